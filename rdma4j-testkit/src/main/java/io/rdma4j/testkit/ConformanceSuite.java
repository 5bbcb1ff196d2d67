package io.rdma4j.testkit;

import java.lang.reflect.Method;
import java.util.ArrayList;
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
            ConnectionManagerConformance.class, ForkConformance.class,
            OnDemandPagingConformance.class, TimestampConformance.class,
            ObjectsConformance.class);
    private static final List<Class<?>> FAULT_CLASSES = List.of(FaultConformance.class);

    private ConformanceSuite() {}

    /**
     * A case and the test that is it.
     *
     * @param conformanceCase the case
     * @param test the class of the suite and its method
     */
    public record Entry(ConformanceCase conformanceCase, String test) {}

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
                    ofClass.add(new Entry(found, nameOf(method)));
                }
            }
            ofClass.sort((a, b) -> order(a).compareTo(order(b)));
            entries.addAll(ofClass);
        }
        return entries;
    }

    private static String order(Entry entry) {
        return entry.conformanceCase.file() + ' ' + entry.conformanceCase.name();
    }

    /** {@return the name by which the report knows a test} */
    static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + '#' + method.getName();
    }
}
