// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.AddressHandleConformance;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CallOrderConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.CompletionQueueConformance;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ConnectionManagerConformance;
import io.rdma4j.testkit.DeviceConformance;
import io.rdma4j.testkit.ExtendedCompletionQueueConformance;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.ForkConformance;
import io.rdma4j.testkit.MemoryRegionConformance;
import io.rdma4j.testkit.ObjectsConformance;
import io.rdma4j.testkit.OnDemandPagingConformance;
import io.rdma4j.testkit.ParentDomainConformance;
import io.rdma4j.testkit.ProtectionDomainConformance;
import io.rdma4j.testkit.QueuePairConformance;
import io.rdma4j.testkit.RelaxedOrderingConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import io.rdma4j.testkit.TimestampConformance;
import io.rdma4j.testkit.ZeroConformance;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The conformance suite on the loopback device, where packets pass through memory as between processes. */
@ExtendWith(ChosenLoopback.Shared.class)
class SharedMemoryConformanceTest {
    /** The same device, of another run. */
    interface SharedMemoryUnderTest extends LoopbackUnderTest {
        @Override
        default ConformanceRun run() {
            return SoftwareRuns.SHARED;
        }
    }

    @Nested
    class Devices extends DeviceConformance implements SharedMemoryUnderTest {}

    @Nested
    class ProtectionDomains extends ProtectionDomainConformance implements SharedMemoryUnderTest {}

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements SharedMemoryUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements SharedMemoryUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                SharedMemoryUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements SharedMemoryUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements SharedMemoryUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements SharedMemoryUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance
            implements
                SharedMemoryUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements SharedMemoryUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance
            implements
                SharedMemoryUnderTest {}

    @Nested
    class ParentDomains extends ParentDomainConformance implements SharedMemoryUnderTest {}

    @Nested
    class RelaxedOrdering extends RelaxedOrderingConformance implements SharedMemoryUnderTest {}

    @Nested
    class CallOrder extends CallOrderConformance
            implements
                SharedMemoryUnderTest {}

    @Nested
    class IbConnectionManager extends ConnectionManagerConformance
            implements
                SharedMemoryUnderTest {}

    @Nested
    class Fork extends ForkConformance implements SharedMemoryUnderTest {}

    @Nested
    class OnDemandPaging extends OnDemandPagingConformance implements SharedMemoryUnderTest {}

    @Nested
    class Timestamps extends TimestampConformance implements SharedMemoryUnderTest {}

    @Nested
    class EveryObject extends ObjectsConformance implements SharedMemoryUnderTest {}

    @Nested
    class Zeros extends ZeroConformance implements SharedMemoryUnderTest {}
}
