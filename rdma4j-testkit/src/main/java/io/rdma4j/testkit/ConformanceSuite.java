// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.List;
import java.util.stream.Stream;

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

    /** {@return the classes that need nothing but a device} */
    public static List<Class<?>> deviceClasses() {
        return DEVICE_CLASSES;
    }

    /** {@return the classes that need a wire whose packets a test can lose and replace} */
    public static List<Class<?>> faultClasses() {
        return FAULT_CLASSES;
    }

    /** {@return the cases of all classes} */
    public static List<ConformanceEntry> entries() {
        return Stream.of(DEVICE_CLASSES, FAULT_CLASSES).map(ConformanceEntry::of)
                .flatMap(List::stream).toList();
    }
}
