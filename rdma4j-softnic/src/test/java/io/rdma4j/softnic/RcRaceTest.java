// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** A reliable connection when things happen at the wrong moment. */
class RcRaceTest {
    private final Pair pair = new Pair();

    RcRaceTest() throws Exception {}

    private static boolean isAnswer(PacketView packet) {
        return packet.opcode().isResponse();
    }

    private void loseWhile(AtomicBoolean isLosing, Predicate<PacketView> rule) {
        pair.simulation.network.loseIf(packet -> isLosing.get() && rule.test(packet));
    }

    @Test
    void receivesPostedAfterASendFailedOnThisSideAreFlushed() throws Exception {
        pair.a.queuePair
                .postSend(pair.a.request(1).send().add(pair.a.region.address(), 8, 0x1234_5678));
        pair.settle();
        pair.a.receive(10, 100);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "10 WORK_REQUEST_FLUSHED");
    }

    @Test
    void requestThatCannotBeSentAgainButHadArrivedSucceeds() throws Exception {
        MemoryRegion closing = pair.a.node.domain.register(Arena.ofAuto().allocate(64), Set.of());
        AtomicBoolean isLosing = new AtomicBoolean(true);
        loseWhile(isLosing, RcRaceTest::isAnswer);
        pair.a.write(1, 10);
        pair.a.queuePair.postSend(
                pair.a.request(2).write(pair.b.region.address(), pair.b.region.rkey())
                        .add(closing, 0, 10));
        pair.run(100_000);
        closing.close();
        // Sending again finds the second request's memory gone; then the answer to the first copy comes.
        pair.run(70_000_000);
        isLosing.set(false);
        pair.simulation.network.inject(acknowledgement(Pair.FIRST_PSN + 1));
        pair.settle();
        pair.a.write(3, 10);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
    }

    private OutgoingPacket acknowledgement(long psn) {
        return pair.b.forge(Opcode.RC_ACKNOWLEDGE, psn).acknowledgement(0x1f, 2);
    }

    @Test
    void oldCopyOfAReadOfARegionThatIsGoneHarmsNobody() throws Exception {
        MemoryRegion shortLived = pair.b.node.domain.register(pair.b.memory,
                AccessFlag.REMOTE_READ);
        pair.a.queuePair.postSend(pair.a.request(1).read(shortLived.address(), shortLived.rkey())
                .add(pair.a.region, Pair.MEMORY / 2, 100));
        pair.settle();
        shortLived.close();
        OutgoingPacket copy = pair.a.forge(Opcode.RC_READ_REQUEST, Pair.FIRST_PSN)
                .rdma(shortLived.address(), shortLived.rkey(), 100);
        pair.simulation.network.inject(copy);
        pair.settle();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        pair.a.write(2, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
    }

    @Test
    void modifyingWhileDrainingStillReportsTheDrain() throws Exception {
        pair.simulation.network.loseIf(RcRaceTest::isAnswer);
        pair.a.write(1, 100);
        pair.run(100_000);
        pair.a.queuePair.modify(
                new QueuePairAttributes().state(QueuePairState.SQD).enableSqdAsyncNotify(true));
        pair.a.queuePair.modify(new QueuePairAttributes().minRnrTimerCode(5));
        pair.simulation.network.loseIf(null);
        pair.settle();
        try (AsyncEvent event = Objects
                .requireNonNull(pair.a.node.context.asyncEventChannel().pollEvent(Duration.ZERO))) {
            assertThat(event.type()).isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
        }
    }

    @Test
    void moreReadsMayBeUnderWayOnceThatIsAgreedInSqd() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.readAtomic = 0;
        Pair narrow = new Pair(settings);
        for (Pair.Side side : new Pair.Side[]{narrow.a, narrow.b}) {
            side.queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD));
            side.queuePair.modify(
                    new QueuePairAttributes().maxReadAtomic(3).maxDestinationReadAtomic(3));
            side.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        }
        for (int i = 0; i < 5; i++) {
            narrow.a.queuePair.postSend(narrow.a.request(i)
                    .fetchAndAdd(narrow.b.region.address(), narrow.b.region.rkey(), 1)
                    .add(narrow.a.region, 1024, 8));
            narrow.a.read(10 + i, 3000);
        }
        narrow.settle();
        assertThat(narrow.a.completions).hasSize(10).allMatch(c -> c.isSuccess());
    }

    @Test
    void stateIsSeenByWhoeverSeesTheFailure() throws Exception {
        QueuePairState[] seen = new QueuePairState[1];
        pair.a.queuePair.postSend(new SendWorkRequest().id(1).write(0, 0).add(pair.a.region, 0, 8));
        pair.simulation.run(() -> {
            if (pair.a.completions.isEmpty()) {
                try {
                    pair.a.takeCompletions();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
                return false;
            }
            seen[0] = pair.a.queuePair.state();
            return true;
        }, Pair.SECOND);
        assertThat(seen[0]).isEqualTo(QueuePairState.ERR);
    }
}
