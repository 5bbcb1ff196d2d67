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
import io.rdma4j.testkit.DeviceUnderTest;
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
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Nested;

import java.net.InetAddress;
import java.util.List;

/** The conformance suite on the iWARP device of the loopback interface. */
class IwarpConformanceTest {
    /** Connected in the one way that it has. */
    interface IwarpUnderTest extends DeviceUnderTest {
        String NAME = "iwarp_lo";

        @Override
        default ConformanceRun run() {
            return SoftwareRuns.IWARP;
        }

        @Override
        default List<ConformanceRun> reportedRuns() {
            return SoftwareRuns.ALL;
        }

        @Override
        default RdmaDevice device() throws RdmaException {
            return RdmaDevices.find(NAME);
        }

        @Override
        default String chosenDevice() {
            return NAME;
        }

        @Override
        default InetAddress connectionAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        default InetAddress multicastAddress() {
            return InetAddress.ofLiteral("239.192.13.8");
        }
    }

    @Nested
    class Devices extends DeviceConformance implements IwarpUnderTest {}

    @Nested
    class ProtectionDomains extends ProtectionDomainConformance implements IwarpUnderTest {}

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements IwarpUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements IwarpUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                IwarpUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements IwarpUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements IwarpUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements IwarpUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements IwarpUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements IwarpUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements IwarpUnderTest {}

    @Nested
    class ParentDomains extends ParentDomainConformance implements IwarpUnderTest {}

    @Nested
    class RelaxedOrdering extends RelaxedOrderingConformance implements IwarpUnderTest {}

    @Nested
    class CallOrder extends CallOrderConformance implements IwarpUnderTest {}

    @Nested
    class Connections extends ConnectionManagerConformance implements IwarpUnderTest {}

    @Nested
    class Fork extends ForkConformance implements IwarpUnderTest {}

    @Nested
    class OnDemandPaging extends OnDemandPagingConformance implements IwarpUnderTest {}

    @Nested
    class Timestamps extends TimestampConformance implements IwarpUnderTest {}

    @Nested
    class EveryObject extends ObjectsConformance implements IwarpUnderTest {}

    @Nested
    class Zeros extends ZeroConformance implements IwarpUnderTest {}
}
