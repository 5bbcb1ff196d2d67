// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.AddressHandleConformance;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.CompletionQueueConformance;
import io.rdma4j.testkit.ConformanceProfile;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ConformanceSuite;
import io.rdma4j.testkit.ConnectionManagerConformance;
import io.rdma4j.testkit.ExtendedCompletionQueueConformance;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.MemoryRegionConformance;
import io.rdma4j.testkit.QueuePairConformance;
import io.rdma4j.testkit.RelaxedOrderingConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import io.rdma4j.testkit.TimestampConformance;

import java.util.List;

/** The runs of the conformance suite that the software devices are published with. */
final class SoftwareRuns {
    /** Everything, through the system's loopback interface. */
    static final ConformanceRun NETWORK = run("UDP over the loopback interface",
            ConformanceSuite.deviceClasses());
    /** What sends packets, where none leaves the device. */
    static final ConformanceRun DIRECT = run("direct loopback, from memory to memory",
            List.of(CompletionQueueConformance.class, CompletionEventConformance.class,
                    ExtendedCompletionQueueConformance.class, AddressHandleConformance.class,
                    MemoryRegionConformance.class, QueuePairConformance.class,
                    ExtendedQueuePairConformance.class, AtomicConformance.class,
                    SharedReceiveQueueConformance.class, ConnectionManagerConformance.class));
    /** Everything, through memory that processes share; what groups and the connection manager send takes the system. */
    static final ConformanceRun SHARED = run("memory that processes share",
            ConformanceSuite.deviceClasses());
    /** What sends packets, where the payloads of reliable connections are lent, and copied once. */
    static final ConformanceRun LENT = run("memory that processes share, long messages copied once",
            List.of(CompletionQueueConformance.class, CompletionEventConformance.class,
                    ExtendedCompletionQueueConformance.class, MemoryRegionConformance.class,
                    QueuePairConformance.class, ExtendedQueuePairConformance.class,
                    AtomicConformance.class, SharedReceiveQueueConformance.class,
                    RelaxedOrderingConformance.class, TimestampConformance.class));
    /** What uses reliable connections, where the connection manager makes them. */
    static final ConformanceRun CONNECTION_MANAGER = run(
            "UDP over the loopback interface, connected by the connection manager",
            List.of(CompletionEventConformance.class, MemoryRegionConformance.class,
                    ExtendedQueuePairConformance.class, AtomicConformance.class,
                    SharedReceiveQueueConformance.class));
    /** What a wire does that loses packets. */
    static final ConformanceRun FAULTS = run("simulated network in virtual time",
            ConformanceSuite.faultClasses());

    /** What iWARP has, on the system's TCP. */
    static final ConformanceRun IWARP = new ConformanceRun("software iWARP",
            "TCP over the loopback interface", ConformanceProfile.SOFTWARE_IWARP,
            ConformanceSuite.deviceClasses());

    static final List<ConformanceRun> ALL = List.of(NETWORK, SHARED, LENT, DIRECT,
            CONNECTION_MANAGER, FAULTS, IWARP);

    private SoftwareRuns() {}

    private static ConformanceRun run(String path, List<Class<?>> classes) {
        return new ConformanceRun("software RoCE", path, ConformanceProfile.SOFTWARE_ROCE, classes);
    }
}
