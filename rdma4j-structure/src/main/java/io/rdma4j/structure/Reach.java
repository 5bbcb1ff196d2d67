// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitReference;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The code that some code can get to by calls in its thread. A call of a method of the project reaches all that overrides it, of whichever
 * module; the body of a lambda belongs to the method that it stands in, unless that gives it to another thread. What gets to code by an
 * interface of the JDK alone, such as a class that is a {@code Runnable}, is not seen.
 */
public final class Reach {
    private static final String PROJECT = "io.rdma4j.";

    /** What was reached, and from where first. */
    private final Map<JavaCodeUnit, JavaCodeUnit> reached = new HashMap<>();
    private final Deque<JavaCodeUnit> ahead = new ArrayDeque<>();

    private Reach() {}

    /**
     * {@return what all code of some classes reaches, and what others give them to run}
     *
     * @param from the classes, by simple names
     * @param takers the names of their methods that run a lambda that they are given
     */
    public static Reach of(JavaClasses all, Set<String> from, Set<String> takers) {
        Reach reach = new Reach();
        for (JavaClass each : all) {
            if (from.contains(each.getSimpleName())) {
                each.getCodeUnits().forEach(code -> reach.add(code, code));
            }
        }
        for (JavaClass each : all) {
            each.getCodeUnits().stream().filter(code -> gives(code, from, takers))
                    .forEach(code -> accesses(code).filter(JavaAccess::isDeclaredInLambda)
                            .forEach(access -> reach.addTargets(code, access)));
        }
        while (!reach.ahead.isEmpty()) {
            JavaCodeUnit next = reach.ahead.remove();
            inThisThread(next).forEach(access -> reach.addTargets(next, access));
        }
        return reach;
    }

    private static boolean gives(JavaCodeUnit code, Set<String> from, Set<String> takers) {
        return code.getMethodCallsFromSelf().stream()
                .anyMatch(call -> from.contains(call.getTargetOwner().getSimpleName())
                        && takers.contains(call.getName()));
    }

    private static Stream<JavaAccess<?>> accesses(JavaCodeUnit code) {
        return Stream.concat(code.getCallsFromSelf().stream(),
                code.getCodeUnitReferencesFromSelf().stream());
    }

    /** Without what is given to another thread. */
    private static Stream<JavaAccess<?>> inThisThread(JavaCodeUnit code) {
        boolean isSplit = code.getMethodCallsFromSelf().stream().map(JavaAccess::getTargetOwner)
                .anyMatch(owner -> owner.isAssignableTo(Thread.Builder.class)
                        || owner.isAssignableTo(ThreadFactory.class)
                        || owner.isAssignableTo(Executor.class));
        return accesses(code).filter(access -> !isSplit || !(access.isDeclaredInLambda()
                || access instanceof JavaCodeUnitReference<?>));
    }

    private void addTargets(JavaCodeUnit from, JavaAccess<?> access) {
        if (!access.getTargetOwner().getName().startsWith(PROJECT)) {
            return;
        }
        JavaMember target = access.getTarget().resolveMember().orElse(null);
        if (target instanceof JavaMethod method) {
            add(method, from);
            for (JavaClass each : method.getOwner().getAllSubclasses()) {
                each.tryGetMethod(method.getName(), method.getRawParameterTypes().stream()
                        .map(JavaClass::getName).toArray(String[]::new))
                        .ifPresent(overriding -> add(overriding, from));
            }
        } else if (target instanceof JavaCodeUnit code) {
            add(code, from);
        }
    }

    private void add(JavaCodeUnit code, JavaCodeUnit from) {
        if (reached.putIfAbsent(code, from) == null) {
            ahead.add(code);
        }
    }

    /** {@return the classes whose code was reached and accesses something, by simple name, each with the calls to there} */
    public Map<String, String> users(Predicate<JavaAccess<?>> what) {
        Map<String, String> found = new TreeMap<>();
        reached.keySet().stream().filter(code -> inThisThread(code).anyMatch(what))
                .forEach(code -> found.putIfAbsent(name(code.getOwner()), path(code)));
        return found;
    }

    /** {@return the calls from where it begins to some code} */
    private String path(JavaCodeUnit to) {
        Deque<String> path = new ArrayDeque<>();
        JavaCodeUnit at = to;
        JavaCodeUnit next = null;
        while (!at.equals(next)) {
            path.addFirst(name(at.getOwner()) + "." + at.getName());
            next = at;
            at = reached.getOrDefault(at, at);
        }
        return String.join(" > ", path);
    }

    private static String name(JavaClass of) {
        return of.isAnonymousClass()
                ? of.getEnclosingClass().map(Reach::name).orElse(of.getName())
                : of.getSimpleName();
    }
}
