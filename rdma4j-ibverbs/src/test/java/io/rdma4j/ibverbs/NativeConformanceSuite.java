// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.testkit.AddressHandleConformance;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CallOrderConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.CompletionQueueConformance;
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

/**
 * The conformance suite on a device that system properties choose. It needs such a device, so no build runs it:
 * {@link NativeConformance} does.
 */
class NativeConformanceSuite {
    @Nested
    class Devices extends DeviceConformance implements NativeUnderTest {}

    @Nested
    class ProtectionDomains extends ProtectionDomainConformance implements NativeUnderTest {}

    @Nested
    class CompletionQueues extends CompletionQueueConformance implements NativeUnderTest {}

    @Nested
    class CompletionEvents extends CompletionEventConformance implements NativeUnderTest {}

    @Nested
    class ExtendedCompletionQueues extends ExtendedCompletionQueueConformance
            implements
                NativeUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements NativeUnderTest {}

    @Nested
    class MemoryRegions extends MemoryRegionConformance implements NativeUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements NativeUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements NativeUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements NativeUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements NativeUnderTest {}

    @Nested
    class ParentDomains extends ParentDomainConformance implements NativeUnderTest {}

    @Nested
    class RelaxedOrdering extends RelaxedOrderingConformance implements NativeUnderTest {}

    @Nested
    class CallOrder extends CallOrderConformance implements NativeUnderTest {}

    @Nested
    class Connections extends ConnectionManagerConformance implements NativeUnderTest {}

    @Nested
    class Fork extends ForkConformance implements NativeUnderTest {}

    @Nested
    class OnDemandPaging extends OnDemandPagingConformance implements NativeUnderTest {}

    @Nested
    class Timestamps extends TimestampConformance implements NativeUnderTest {}

    @Nested
    class EveryObject extends ObjectsConformance implements NativeUnderTest {}

    @Nested
    class Zeros extends ZeroConformance implements NativeUnderTest {}
}
