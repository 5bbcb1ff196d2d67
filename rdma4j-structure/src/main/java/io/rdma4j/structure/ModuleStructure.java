// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/**
 * The main classes of one module, by their packages: what knows what, which classes know each other in a circle, and what belongs to the
 * process. Each module's {@code StructureTest} says what that should be. Packages are named without {@code io.rdma4j.}; what the module uses
 * of others is not looked at.
 */
public final class ModuleStructure {
    private static final String ROOT = "io.rdma4j.";

    private final List<JavaClass> classes;

    private ModuleStructure(JavaClasses imported) {
        classes = imported.stream()
                .filter(each -> !each.getSimpleName().equals("package-info")
                        && !each.getSimpleName().equals("module-info"))
                .toList();
    }

    /** {@return the structure of the module whose tests run, as it is compiled} */
    public static ModuleStructure ofThisModule() {
        return of(Path.of("target", "classes"));
    }

    /** {@return the structure of compiled classes} */
    static ModuleStructure of(Path compiled) {
        return new ModuleStructure(new ClassFileImporter().importPath(compiled));
    }

    /**
     * Checks that each package has its place in a list of layers, and knows only packages in lower ones.
     *
     * @param fromTop the layers; packages in one layer do not know each other
     * @return what is wrong, a line each
     */
    public List<String> faults(List<Set<String>> fromTop) {
        Map<String, Integer> places = new HashMap<>();
        List<String> faults = new ArrayList<>();
        for (int layer = 0; layer < fromTop.size(); layer++) {
            for (String name : fromTop.get(layer)) {
                if (places.put(name, layer) != null) {
                    faults.add(name + " has two places");
                }
            }
        }
        Map<String, Set<String>> known = known();
        known.keySet().stream().filter(name -> !places.containsKey(name))
                .forEach(name -> faults.add(name + " has no place"));
        places.keySet().stream().filter(name -> !known.containsKey(name))
                .forEach(name -> faults.add(name + " is no package"));
        known.forEach((name, others) -> others.forEach(other -> {
            if (places.getOrDefault(other, -1) <= places.getOrDefault(name, -1)) {
                faults.add(name + " knows " + other);
            }
        }));
        return faults;
    }

    /** {@return which packages of the module each package knows} */
    private Map<String, Set<String>> known() {
        Map<String, Set<String>> known = new TreeMap<>();
        Set<String> own = new HashSet<>();
        classes.forEach(each -> own.add(name(each)));
        for (JavaClass each : classes) {
            Set<String> others = known.computeIfAbsent(name(each), _ -> new TreeSet<>());
            each.getDirectDependenciesFromSelf().forEach(dependency -> {
                String other = name(dependency.getTargetClass());
                if (own.contains(other) && !other.equals(name(each))) {
                    others.add(other);
                }
            });
        }
        return known;
    }

    private static String name(JavaClass of) {
        String name = of.getPackageName();
        return name.startsWith(ROOT) ? name.substring(ROOT.length()) : name;
    }

    /**
     * {@return how many classes of each package know each other in circles, with what is nested in them}
     *
     * @param most circles up to this size are left out
     */
    public Map<String, Integer> knots(int most) {
        Map<String, Map<String, Set<String>>> graphs = new TreeMap<>();
        for (JavaClass each : classes) {
            JavaClass top = outermost(each);
            Set<String> others = graphs.computeIfAbsent(name(each), _ -> new TreeMap<>())
                    .computeIfAbsent(top.getName(), _ -> new TreeSet<>());
            each.getDirectDependenciesFromSelf().forEach(dependency -> {
                JavaClass other = outermost(dependency.getTargetClass().getBaseComponentType());
                if (!other.equals(top) && name(other).equals(name(each))) {
                    others.add(other.getName());
                }
            });
        }
        Map<String, Integer> knotted = new TreeMap<>();
        graphs.forEach((name, graph) -> {
            int size = new Knots(graph).nodesOver(most);
            if (size > 0) {
                knotted.put(name, size);
            }
        });
        return knotted;
    }

    private static JavaClass outermost(JavaClass of) {
        return of.getEnclosingClass().map(ModuleStructure::outermost).orElse(of);
    }

    /**
     * {@return the static fields in which the process keeps what changes, as {@code Class.field}} Those that are not final, that
     * hold a container or what {@code java.util.concurrent} has for several threads, or an object of the module that has such a field or
     * one that is not final. Of a list, set or map the type does not say whether it changes: it does if its class makes a container. Nor
     * does an interface or an abstract class of the module: the objects count that the class of the field makes.
     */
    public Set<String> stateOfTheProcess() {
        Set<String> found = new TreeSet<>();
        for (JavaClass each : classes) {
            for (JavaField field : each.getFields()) {
                boolean isStatic = field.getModifiers().contains(JavaModifier.STATIC)
                        && !field.getModifiers().contains(JavaModifier.SYNTHETIC);
                if (isStatic && (!field.getModifiers().contains(JavaModifier.FINAL)
                        || changes(field, new HashSet<>()))) {
                    found.add(each.getSimpleName() + "." + field.getName());
                }
            }
        }
        return found;
    }

    private boolean changes(JavaField field, Set<JavaClass> seen) {
        JavaClass type = field.getRawType();
        if (isCollection(type)) {
            return making(field).flatMap(code -> code.getConstructorCallsFromSelf().stream())
                    .anyMatch(call -> isContainer(call.getTargetOwner()));
        }
        if (isContainer(type)) {
            return true;
        }
        if (type.isInterface() || type.getModifiers().contains(JavaModifier.ABSTRACT)) {
            return making(field).flatMap(code -> code.getConstructorCallsFromSelf().stream())
                    .map(JavaConstructorCall::getTargetOwner)
                    .anyMatch(made -> made.isAssignableTo(type.getName()) && changes(made, seen));
        }
        return changes(type, seen);
    }

    private boolean changes(JavaClass type, Set<JavaClass> seen) {
        return !type.isEnum() && seen.add(type) && classes.contains(type)
                && type.getAllFields().stream()
                        .filter(each -> !each.getModifiers().contains(JavaModifier.STATIC))
                        .anyMatch(each -> !each.getModifiers().contains(JavaModifier.FINAL)
                                || changes(each, seen));
    }

    /** {@return the code that gives a field its value} */
    private static Stream<? extends JavaCodeUnit> making(JavaField field) {
        return field.getModifiers().contains(JavaModifier.STATIC)
                ? field.getOwner().getStaticInitializer().stream()
                : field.getOwner().getConstructors().stream();
    }

    private static boolean isCollection(JavaClass type) {
        return type.isInterface()
                && (type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class));
    }

    private static boolean isContainer(JavaClass type) {
        return type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class)
                || type.isAssignableTo(Lock.class) || type.isEquivalentTo(ThreadLocal.class)
                || (type.getPackageName().startsWith("java.util.concurrent") && !type.isEnum());
    }
}
