// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
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

    private final Pair pair;
    private final CompletionQueue queue;
    private final Pair.Side asking;
    private final Pair.Side replying;
    private final WorkCompletion completion = new WorkCompletion();

    ReplyAfterArmingTest() throws Exception {
        pair = new Pair();
        queue = pair.b.node.context.createCompletionQueue(16, CompletionChannel.create());
        asking = pair.new Side(pair.a.node);
        replying = pair.new Side(pair.b.node, queue);
        Pair.Settings settings = new Pair.Settings();
        asking.connect(replying, settings);
        replying.connect(asking, settings);
    }

    /** One side has just got a message, and has sent nothing. */
    @BeforeEach
    void deliver() throws Exception {
        replying.receive(1, LENGTH);
        asking.send(2, LENGTH);
        while (!queue.poll(completion)) {
            pair.simulation.network.advanceTo(pair.simulation.network.nextArrivalNs());
        }
        assertThat(packetsSent()).isZero();
    }

    @AfterEach
    void shutDown() {
        pair.simulation.shutDown();
    }

    private long packetsSent() {
        return replying.node.nic.engine().counters().value(Counter.SENT_PKTS);
    }

    @Test
    void theAcknowledgementLeavesWithTheReply() throws Exception {
        queue.requestNotification();
        assertThat(queue.poll(completion)).isFalse();
        assertThat(packetsSent()).isZero();
        replying.send(3, LENGTH);
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
        replying.receive(4, LENGTH);
        asking.send(5, LENGTH);
        asking.node.poll();
        pair.simulation.network.advanceTo(pair.simulation.network.nextArrivalNs());
        pair.simulation.network.advanceTo(pair.simulation.network.nextArrivalNs());
        queue.requestNotification();
        assertThat(queue.poll(completion)).isTrue();
    }
}
