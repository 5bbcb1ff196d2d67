// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.CompletionQueueConformance;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ExtendedCompletionQueueConformance;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.MemoryRegionConformance;
import io.rdma4j.testkit.QueuePairConformance;
import io.rdma4j.testkit.RelaxedOrderingConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import io.rdma4j.testkit.TimestampConformance;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the conformance suite that sends packets, on the loopback device through memory that processes share, with messages
 * that its other end copies from where they lie.
 */
@ExtendWith(ChosenLoopback.Shared.class)
class LentMemoryConformanceTest {
    /** The same device, with memory that it has allocated. */
    interface LentMemoryUnderTest extends LoopbackUnderTest {
        @Override
        default ConformanceRun run() {
            return SoftwareRuns.LENT;
        }

        @Override
        default boolean allocatesMemory() {
            return true;
        }
    }

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements LentMemoryUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements LentMemoryUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                LentMemoryUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements LentMemoryUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements LentMemoryUnderTest {
        @AfterAll
        static void messagesWereCopiedOnce() throws Exception {
            try (DeviceContext context = RdmaDevices.find("roce_lo").open()) {
                assertThat(counted(context, Counter.LENT_PKTS)).isPositive();
                assertThat(counted(context, Counter.BORROWED_PKTS)).isPositive();
            }
        }
    }

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements LentMemoryUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements LentMemoryUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance
            implements
                LentMemoryUnderTest {}

    @Nested
    class RelaxedOrdering extends RelaxedOrderingConformance implements LentMemoryUnderTest {}

    @Nested
    class Timestamps extends TimestampConformance implements LentMemoryUnderTest {}
}
