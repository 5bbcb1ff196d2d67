package io.rdma4j.softnic;

import io.rdma4j.testkit.AddressHandleConformance;
import io.rdma4j.testkit.AtomicConformance;
import io.rdma4j.testkit.CompletionEventConformance;
import io.rdma4j.testkit.ConnectionManagerConformance;
import io.rdma4j.testkit.ExtendedQueuePairConformance;
import io.rdma4j.testkit.QueuePairConformance;
import io.rdma4j.testkit.SharedReceiveQueueConformance;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The part of the conformance suite that sends packets, where none leaves the device. */
@ExtendWith(DirectLoopback.class)
class DirectLoopbackConformanceTest {
    @Nested
    class CompletionEvents extends CompletionEventConformance implements LoopbackUnderTest {}

    @Nested
    class AddressHandles extends AddressHandleConformance implements LoopbackUnderTest {}

    @Nested
    class QueuePairs extends QueuePairConformance implements LoopbackUnderTest {}

    @Nested
    class ExtendedQueuePairs extends ExtendedQueuePairConformance implements LoopbackUnderTest {}

    @Nested
    class Atomics extends AtomicConformance implements LoopbackUnderTest {}

    @Nested
    class SharedReceiveQueues extends SharedReceiveQueueConformance implements LoopbackUnderTest {}

    @Nested
    class IbConnectionManager extends ConnectionManagerConformance implements LoopbackUnderTest {}
}
