// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.testkit.junit.ConnectedIds;
import io.rdma4j.testkit.junit.RdmaTest;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;

/** How a program tests itself on a network that loses packets; docs/howto/loss.md shows the same. */
@RdmaTest(impairment = "loss=5%,seed=7", record = true)
class LossyMessagesTest {
    private static final int LENGTH = 1024;

    @Test
    void messagesArriveOnceAndInOrder(ConnectedIds ids, DeviceContext device, Arena arena)
            throws Exception {
        MemorySegment memory = arena.allocate(2 * LENGTH);
        try (MemoryRegion sent = ids.client().registerMessages(memory.asSlice(0, LENGTH));
                MemoryRegion received = ids.server().registerMessages(memory.asSlice(LENGTH))) {
            for (int round = 0; round < 100; round++) {
                memory.set(ValueLayout.JAVA_INT, 0, round);
                ids.server().postReceive(round, received, 0, LENGTH);
                ids.client().postSend(round, sent, 0, LENGTH, SendFlag.SIGNALED);
                ids.client().awaitSendCompletion().requireSuccess("send");
                ids.server().awaitReceiveCompletion().requireSuccess("receive");
                assertThat(memory.get(ValueLayout.JAVA_INT, LENGTH)).isEqualTo(round);
            }
        }
        // Otherwise nothing went through the network.
        assertThat(device.counters().get("retransmitted_pkts")).isPositive();
    }
}
