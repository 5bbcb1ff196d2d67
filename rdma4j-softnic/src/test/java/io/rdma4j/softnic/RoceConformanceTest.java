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
import io.rdma4j.testkit.FaultConformance;
import io.rdma4j.testkit.FaultyWire;
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

import java.util.List;

/** The conformance suite on the loopback device, and on a simulated wire where packets must be lost. */
@ExtendWith(ChosenLoopback.Network.class)
class RoceConformanceTest {
    @Nested
    class Devices extends DeviceConformance implements LoopbackUnderTest {}

    @Nested
    class ProtectionDomains extends ProtectionDomainConformance implements LoopbackUnderTest {}

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements LoopbackUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements LoopbackUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                LoopbackUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements LoopbackUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements LoopbackUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements LoopbackUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements LoopbackUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements LoopbackUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements LoopbackUnderTest {}

    @Nested
    class ParentDomains extends ParentDomainConformance implements LoopbackUnderTest {}

    @Nested
    class RelaxedOrdering extends RelaxedOrderingConformance implements LoopbackUnderTest {}

    @Nested
    class CallOrder extends CallOrderConformance implements LoopbackUnderTest {}

    @Nested
    class IbConnectionManager extends ConnectionManagerConformance implements LoopbackUnderTest {}

    @Nested
    class Fork extends ForkConformance implements LoopbackUnderTest {}

    @Nested
    class OnDemandPaging extends OnDemandPagingConformance implements LoopbackUnderTest {}

    @Nested
    class Timestamps extends TimestampConformance implements LoopbackUnderTest {}

    @Nested
    class EveryObject extends ObjectsConformance implements LoopbackUnderTest {}

    @Nested
    class Zeros extends ZeroConformance implements LoopbackUnderTest {}

    @Nested
    class Faults extends FaultConformance {
        @Override
        public ConformanceRun run() {
            return SoftwareRuns.FAULTS;
        }

        @Override
        public List<ConformanceRun> reportedRuns() {
            return SoftwareRuns.ALL;
        }

        @Override
        protected FaultyWire wire() throws Exception {
            return new SimulatedWire();
        }
    }
}
