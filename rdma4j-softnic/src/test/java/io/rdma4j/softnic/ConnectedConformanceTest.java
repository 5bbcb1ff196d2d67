// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ConnectionMethod;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.MemoryRegionConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The part of the conformance suite that uses reliable connections, where the connection manager makes them. */
@ExtendWith(ChosenLoopback.Network.class)
class ConnectedConformanceTest {
    /** The same device, connected in the way that every transport has. */
    interface ConnectedUnderTest extends LoopbackUnderTest {
        @Override
        default ConformanceRun run() {
            return SoftwareRuns.CONNECTION_MANAGER;
        }

        @Override
        default ConnectionMethod connectionMethod() {
            return ConnectionMethod.CONNECTION_MANAGER;
        }
    }

    @Nested
    class CompletionEvents extends CompletionEventConformance implements ConnectedUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements ConnectedUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements ConnectedUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements ConnectedUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements ConnectedUnderTest {}
}
