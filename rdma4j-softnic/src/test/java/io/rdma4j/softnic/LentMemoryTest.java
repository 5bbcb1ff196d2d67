// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages whose bytes the sender has lent and the receiver has not read yet, when the sender's side changes. The receiver gets
 * what it would get had that happened before the message left, or all of it, and never anything else.
 */
class LentMemoryTest {
    private static final int LENGTH = Pair.MEMORY / 2;
    private static final byte OTHER = 42;

    private final Pair pair = new Pair();
    private final Pair.Side a = pair.a;
    private final Pair.Side b = pair.b;

    LentMemoryTest() throws Exception {
        pair.simulation.network.memory.meet(1, 0, 0);
        pair.simulation.network.memory.lend(0);
    }

    /** A device that has just been polled may hold back what it would send, so it is polled again. */
    private void settle() throws Exception {
        for (int i = 0; i < 4; i++) {
            pair.settle();
            a.takeCompletions();
            b.takeCompletions();
        }
    }

    private static MemoryRegion region(Pair.Side side, MemorySegment memory) throws Exception {
        return side.node.domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE, AccessFlag.MW_BIND);
    }

    private MemorySegment message() {
        MemorySegment message = Arena.ofAuto().allocate(LENGTH);
        message.fill((byte) 7);
        return message;
    }

    private SendWorkRequest write(long id, MemoryRegion from) {
        return a.request(id).write(b.region.address() + LENGTH, b.region.rkey()).add(from, 0,
                LENGTH);
    }

    @Test
    void bytesAreReadWhereTheyAre() throws Exception {
        MemorySegment message = message();
        a.queuePair.postSend(write(1, region(a, message)));
        a.node.poll();
        message.set(ValueLayout.JAVA_BYTE, LENGTH - 1, OTHER);
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.upperByte(0)).isEqualTo((byte) 7);
        assertThat(b.upperByte(LENGTH - 1)).as("so they were lent").isEqualTo(OTHER);
    }

    // ---------------------------------------------------------------- requests

    @Test
    void regionThatIsClosedIsNotReadAnyMore() throws Exception {
        MemorySegment message = message();
        MemoryRegion region = region(a, message);
        a.queuePair.postSend(write(1, region));
        a.node.poll();
        region.close();
        message.fill(OTHER);
        settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void messageThatWasNotWholeTakesNoReceive() throws Exception {
        b.receive(9, LENGTH);
        MemorySegment message = message();
        MemoryRegion region = region(a, message);
        a.queuePair.postSend(a.request(1).send().add(region, 0, LENGTH));
        a.node.poll();
        region.close();
        settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
        b.assertCompleted();
    }

    @Test
    void anotherRegistrationOfTheSameMemoryGoesOn() throws Exception {
        MemorySegment message = message();
        MemoryRegion region = region(a, message);
        MemoryRegion other = region(a, message);
        a.queuePair.postSend(write(1, region));
        a.node.poll();
        other.close();
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(a.node.context.counters().get("retransmitted_pkts")).isZero();
    }

    @Test
    void regionThatIsRegisteredAnewIsReadAnew() throws Exception {
        MemorySegment message = message();
        MemoryRegion region = region(a, message);
        a.queuePair.postSend(write(1, region));
        a.node.poll();
        region.reregister(new MemoryRegionChanges().access(Set.of()));
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(a.node.context.counters().get("retransmitted_pkts")).isPositive();
        assertThat(b.upperByte(LENGTH - 1)).isEqualTo((byte) 7);
    }

    @Test
    void requestsThatAreFlushedAreNotReadAnyMore() throws Exception {
        b.receive(9, LENGTH);
        MemorySegment message = message();
        a.queuePair.postSend(a.request(1).send().add(region(a, message), 0, LENGTH));
        a.node.poll();
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        message.fill(OTHER);
        settle();
        a.assertCompleted("1 WORK_REQUEST_FLUSHED");
        b.assertCompleted();
    }

    @Test
    void requestsOfAQueuePairThatFailsAreNotReadAnyMore() throws Exception {
        b.receive(9, LENGTH);
        MemorySegment message = message();
        MemoryRegion region = region(a, message);
        a.queuePair.postSend(a.request(1).send().add(region, 0, LENGTH));
        a.node.poll();
        Objects.requireNonNull(a.node.nic.engine().find(a.queuePair.number())).fail(0);
        message.fill(OTHER);
        settle();
        a.assertCompleted("1 WORK_REQUEST_FLUSHED");
        b.assertCompleted();
    }

    @Test
    void requestsOfAQueuePairThatIsResetAreNotReadAnyMore() throws Exception {
        b.receive(9, LENGTH);
        a.queuePair.postSend(a.request(1).send().add(region(a, message()), 0, LENGTH));
        a.node.poll();
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        settle();
        b.assertCompleted();
    }

    @Test
    void requestsOfAQueuePairThatIsClosedAreNotReadAnyMore() throws Exception {
        a.queuePair.postSend(write(1, region(a, message())));
        a.node.poll();
        a.queuePair.close();
        pair.run(1_000_000);
        b.takeCompletions();
        b.assertCompleted();
    }

    @Test
    void otherQueuePairsGoOn() throws Exception {
        Pair.Side other = pair.new Side(pair.simulation.a);
        Pair.Side peer = pair.new Side(pair.simulation.b);
        pair.simulation.connect(other.queuePair, peer.queuePair, Mtu.MTU_1024, 7);
        other.queuePair.postSend(other.request(5).write(peer.region.address() + LENGTH,
                peer.region.rkey()).add(other.region, 0, LENGTH));
        a.queuePair.postSend(write(1, region(a, message())));
        a.node.poll();
        a.queuePair.close();
        settle();
        other.takeCompletions();
        other.assertCompleted("5 SUCCESS");
        assertThat(other.queuePair.counters().get("retransmitted_pkts")).isZero();
    }

    // ---------------------------------------------------------------- responses

    /** Lets the responder answer a READ, and the requester not look. */
    private void readButDoNotLook(MemoryRegion from, int key) throws Exception {
        a.queuePair.postSend(a.request(1).read(from.address(), key).add(a.region, LENGTH, LENGTH));
        a.node.poll();
        b.node.poll();
    }

    @Test
    void regionThatIsClosedWhileItIsReadIsRefused() throws Exception {
        MemoryRegion region = region(b, message());
        readButDoNotLook(region, region.rkey());
        region.close();
        settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        assertThat(a.upperByte(LENGTH - 1)).isZero();
    }

    @Test
    void windowThatIsBoundElsewhereWhileItIsReadIsRefused() throws Exception {
        MemoryRegion region = region(b, message());
        MemoryWindow window = b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        b.queuePair.postSend(b.request(3).bind(window, MemoryWindow.nextRkey(window.rkey()),
                new MemoryWindowBind(region, region.address(), LENGTH,
                        Set.of(AccessFlag.REMOTE_READ))));
        settle();
        b.completions.clear();
        readButDoNotLook(region, window.rkey());
        window.close();
        settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    /** The READ was answered before, and what was lent is still there. */
    @Test
    void responseStaysRightWhenItsQueuePairFails() throws Exception {
        MemoryRegion region = region(b, message());
        readButDoNotLook(region, region.rkey());
        b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(a.upperByte(LENGTH - 1)).isEqualTo((byte) 7);
    }
}
