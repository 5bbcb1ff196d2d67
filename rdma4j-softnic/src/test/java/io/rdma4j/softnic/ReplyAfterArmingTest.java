// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who has got a message, asks for an event and looks once more, as each program must before it waits, does not send the acknowledgement by that:
 * it leaves with the reply.
 */
class ReplyAfterArmingTest {
    private static final int LENGTH = 64;

    private final WorkCompletion completion = new WorkCompletion();
    private Simulation simulation;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private MemoryRegion region;
    private QueuePair asking;
    private MemoryRegion sent;

    /** {@code b} has just got a message of {@code a}, and has sent nothing. */
    @BeforeEach
    void deliver() throws Exception {
        simulation = new Simulation(1);
        QueuePairCapabilities sizes = QueuePairCapabilities.ofDepth(4, 4);
        CompletionQueue ofA = simulation.a.context.createCompletionQueue(16);
        asking = simulation.a.queuePair(ofA, sizes);
        CompletionChannel channel = CompletionChannel.create();
        queue = simulation.b.context.createCompletionQueue(16, channel);
        queuePair = simulation.b.queuePair(queue, sizes);
        simulation.connect(asking, queuePair, Mtu.MTU_1024, 7);
        region = simulation.b.domain.allocateRegion(LENGTH, AccessFlag.LOCAL_WRITE);
        sent = simulation.a.domain.allocateRegion(LENGTH);
        queuePair.postReceive(new ReceiveWorkRequest().add(region, 0, LENGTH));
        ask();
        while (!queue.poll(completion)) {
            simulation.network.advanceTo(simulation.network.nextArrivalNs());
        }
        assertThat(packetsSent()).isZero();
    }

    @AfterEach
    void shutDown() {
        simulation.shutDown();
    }

    private long packetsSent() {
        return simulation.b.nic.engine().counters().value(Counter.SENT_PKTS);
    }

    private void ask() throws RdmaException {
        asking.postSend(
                new SendWorkRequest().opcode(SendOpcode.SEND).add(sent, 0, LENGTH));
    }

    private void reply() throws RdmaException {
        queuePair.postSend(
                new SendWorkRequest().opcode(SendOpcode.SEND).add(region, 0, LENGTH));
    }

    @Test
    void theAcknowledgementLeavesWithTheReply() throws Exception {
        queue.requestNotification();
        assertThat(queue.poll(completion)).isFalse();
        assertThat(packetsSent()).isZero();
        reply();
        assertThat(packetsSent()).isEqualTo(2);
    }

    @Test
    void whoLooksAgainSendsIt() throws Exception {
        queue.requestNotification();
        assertThat(queue.poll(completion)).isFalse();
        assertThat(queue.poll(completion)).isFalse();
        assertThat(packetsSent()).isEqualTo(1);
    }

    @Test
    void whoLooksAgainWithoutHavingAskedForAnEventSendsIt() throws Exception {
        assertThat(queue.poll(completion)).isFalse();
        assertThat(packetsSent()).isEqualTo(1);
    }

    /** Otherwise a thread that asks for an event before each look would run nothing. */
    @Test
    void whoAsksForAnEventAgainSendsItTheSecondTime() throws Exception {
        for (int i = 0; i < 2; i++) {
            queue.requestNotification();
            assertThat(queue.poll(completion)).isFalse();
        }
        assertThat(packetsSent()).isEqualTo(1);
    }

    @Test
    void withNothingHeldBackItRunsTheDevice() throws Exception {
        assertThat(queue.poll(completion)).isFalse();
        queuePair.postReceive(new ReceiveWorkRequest().add(region, 0, LENGTH));
        ask();
        simulation.a.poll();
        simulation.network.advanceTo(simulation.network.nextArrivalNs());
        simulation.network.advanceTo(simulation.network.nextArrivalNs());
        queue.requestNotification();
        assertThat(queue.poll(completion)).isTrue();
    }
}
