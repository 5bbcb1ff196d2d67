// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A case, as the report and the table of what is required list it.
 *
 * @param test its name: the class of the suite and the method
 * @param after the test of others that had the idea, empty if there is none
 */
public record ConformanceEntry(String test, String after) {
    /** {@return the cases of some classes of the suite, class by class, by name within one} */
    public static List<ConformanceEntry> of(List<Class<?>> classes) {
        List<ConformanceEntry> entries = new ArrayList<>();
        for (Class<?> each : classes) {
            entries.addAll(of(each));
        }
        return entries;
    }

    private static List<ConformanceEntry> of(Class<?> suiteClass) {
        List<ConformanceEntry> entries = new ArrayList<>();
        for (Method method : suiteClass.getDeclaredMethods()) {
            ConformanceCase found = method.getAnnotation(ConformanceCase.class);
            if (found != null) {
                entries.add(new ConformanceEntry(nameOf(method), found.after()));
            }
        }
        entries.sort(Comparator.comparing(ConformanceEntry::test));
        return entries;
    }

    /** {@return the name by which the report and the table of what is required know a case} */
    static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + '#' + method.getName();
    }
}
