// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.AddressHandleConformance;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.CompletionQueueConformance;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ConnectionManagerConformance;
import io.rdma4j.testkit.ExtendedCompletionQueueConformance;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.MemoryRegionConformance;
import io.rdma4j.testkit.QueuePairConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The part of the conformance suite that sends packets, where none leaves the device. */
@ExtendWith(ChosenLoopback.Direct.class)
class DirectLoopbackConformanceTest {
    /** The same device, of another run. */
    interface DirectUnderTest extends LoopbackUnderTest {
        @Override
        default ConformanceRun run() {
            return SoftwareRuns.DIRECT;
        }
    }

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements DirectUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements DirectUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                DirectUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements DirectUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements DirectUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements DirectUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements DirectUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements DirectUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements DirectUnderTest {}

    @Nested
    class IbConnectionManager extends ConnectionManagerConformance implements DirectUnderTest {}
}
