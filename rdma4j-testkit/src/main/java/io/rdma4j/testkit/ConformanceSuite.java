// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The classes of the suite, in the order of the report, and their cases. */
public final class ConformanceSuite {
    private static final List<Class<?>> DEVICE_CLASSES = List.of(DeviceConformance.class,
            ProtectionDomainConformance.class, CompletionQueueConformance.class,
            CompletionEventConformance.class, ExtendedCompletionQueueConformance.class,
            AddressHandleConformance.class, MemoryRegionConformance.class,
            QueuePairConformance.class, ExtendedQueuePairConformance.class,
            AtomicConformance.class, SharedReceiveQueueConformance.class,
            ParentDomainConformance.class, RelaxedOrderingConformance.class,
            ConnectionManagerConformance.class, CallOrderConformance.class, ForkConformance.class,
            OnDemandPagingConformance.class, TimestampConformance.class,
            ObjectsConformance.class, ZeroConformance.class);
    private static final List<Class<?>> FAULT_CLASSES = List.of(FaultConformance.class);

    private ConformanceSuite() {}

    /**
     * A case.
     *
     * @param test its name: the class of the suite and the method
     * @param after the test of others that had the idea, empty if there is none
     */
    public record Entry(String test, String after) {}

    /** {@return the classes that need nothing but a device} */
    public static List<Class<?>> deviceClasses() {
        return DEVICE_CLASSES;
    }

    /** {@return the classes that need a wire whose packets a test can lose and replace} */
    public static List<Class<?>> faultClasses() {
        return FAULT_CLASSES;
    }

    /** {@return the cases of all classes} */
    public static List<Entry> entries() {
        List<Entry> entries = new ArrayList<>(entries(DEVICE_CLASSES));
        entries.addAll(entries(FAULT_CLASSES));
        return entries;
    }

    /** {@return the cases of some classes, class by class, by name within one} */
    public static List<Entry> entries(List<Class<?>> classes) {
        List<Entry> entries = new ArrayList<>();
        for (Class<?> each : classes) {
            List<Entry> ofClass = new ArrayList<>();
            for (Method method : each.getDeclaredMethods()) {
                ConformanceCase found = method.getAnnotation(ConformanceCase.class);
                if (found != null) {
                    ofClass.add(new Entry(nameOf(method), found.after()));
                }
            }
            ofClass.sort(Comparator.comparing(Entry::test));
            entries.addAll(ofClass);
        }
        return entries;
    }

    /** {@return the name by which the report and the table of what is required know a case} */
    static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + '#' + method.getName();
    }
}
