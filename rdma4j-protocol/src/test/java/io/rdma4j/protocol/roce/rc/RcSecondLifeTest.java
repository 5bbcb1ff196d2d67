// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A queue pair that was in RESET and is used again remembers nothing of its first life: neither what it owes the peer, nor
 * what the peer owes it. The packets of both lives have the same numbers, which is the worst case.
 */
class RcSecondLifeTest {
    private static final int MTU = 1024;
    private static final String NOTHING = "-";

    private final RcPair.Settings settings = new RcPair.Settings();
    private RcPair pair = pair();

    private RcPair pair() {
        settings.firstPsn = 100;
        return new RcPair(settings);
    }

    /** Ends the first life of both ends and begins their second. */
    private void beginAnew() {
        pair.a.reset();
        pair.b.reset();
        pair.a.bringTo(QueuePairState.RTS, pair.b, settings);
        pair.b.bringTo(QueuePairState.RTS, pair.a, settings);
        pair.b.isHeldUp = false;
        pair.a.completions.clear();
        pair.b.completions.clear();
        pair.b.events.clear();
    }

    private OutgoingPacket write(int index) {
        return pair.a.forge(Opcode.RC_WRITE_ONLY, index, 100).rdma(pair.b.address + RcEnd.UPPER,
                pair.b.key, 100);
    }

    private OutgoingPacket add(int index) {
        return pair.a.forge(Opcode.RC_FETCH_ADD, index).atomic(pair.b.address, pair.b.key, 5, 0);
    }

    private String effects(OutgoingPacket packet) {
        return Effects.of(pair.b, () -> pair.wire.deliver(pair.b, packet));
    }

    // ---------------------------------------------------------------- what it owes

    @Test
    void refusalThatWasNotSentIsNotSentAnyMore() {
        pair.b.isHeldUp = true;
        pair.wire.deliver(pair.b, write(0).rdma(0, 0, 100));
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        beginAnew();
        assertThat(Effects.of(pair.b, pair.b::work)).isEqualTo(NOTHING);
        assertThat(effects(write(0))).isEqualTo("writes, ACK 0");
    }

    @Test
    void acknowledgementThatWasNotSentIsNotSentAnyMore() {
        pair.b.isHeldUp = true;
        pair.wire.deliver(pair.b, write(0));
        beginAnew();
        assertThat(Effects.of(pair.b, pair.b::work)).isEqualTo(NOTHING);
    }

    @Test
    void dataThatWasNotSentIsNotSentAnyMore() {
        pair.b.isHeldUp = true;
        pair.wire.deliver(pair.b,
                pair.a.forge(Opcode.RC_READ_REQUEST, 0).rdma(pair.b.address, pair.b.key, 100));
        beginAnew();
        assertThat(Effects.of(pair.b, pair.b::work)).isEqualTo(NOTHING);
    }

    @Test
    void resultsOfAtomicsAreForgotten() {
        effects(add(0));
        beginAnew();
        effects(write(0));
        // The number is that of an atomic of the first life; now it was a WRITE.
        assertThat(effects(add(0))).isEqualTo(NOTHING);
    }

    // ---------------------------------------------------------------- what it said

    @Test
    void firstLossIsToldThoughOneWasToldBefore() {
        assertThat(effects(write(1))).isEqualTo("NAK_SEQUENCE 0");
        beginAnew();
        assertThat(effects(write(2))).isEqualTo("NAK_SEQUENCE 0");
    }

    @Test
    void postedReceiveIsAnnouncedToNobodyWhoWasNotRefused() {
        assertThat(effects(pair.a.forge(Opcode.RC_SEND_ONLY, 0, 100))).isEqualTo("RNR_NAK 0");
        beginAnew();
        assertThat(Effects.of(pair.b, () -> pair.b.receive(7, 100))).isEqualTo(NOTHING);
    }

    @Test
    void firstWaitForAReceiveIsShortAgain() {
        settings.minRnrTimer = 0;
        for (int life = 0; life < 2; life++) {
            beginAnew();
            pair.b.queuePair.firstRnrTimer(12);
            long before = pair.a.counted(Counter.RCVD_RNR_ERR);
            pair.a.send(1, 100);
            pair.run(1_000_000);
            assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(before + 2);
        }
    }

    @Test
    void messageThatHadBegunIsForgotten() {
        pair.b.receive(7, 4 * MTU);
        assertThat(effects(pair.a.forge(Opcode.RC_SEND_FIRST, 0, MTU))).isEqualTo("writes, ACK 0");
        beginAnew();
        // It writes the same bytes there.
        assertThat(effects(write(0))).isEqualTo("ACK 0");
    }

    @Test
    void receivesOfTheFirstLifeAreGone() {
        pair.b.receive(7, 100);
        beginAnew();
        assertThat(pair.b.completions).isEmpty();
        assertThat(effects(pair.a.forge(Opcode.RC_SEND_ONLY, 0, 100))).isEqualTo("RNR_NAK 0");
    }

    @Test
    void firstPacketTellsThatThePeerIsReadyAgain() {
        for (int life = 0; life < 2; life++) {
            pair.b.reset();
            pair.b.events.clear();
            pair.b.bringTo(QueuePairState.RTR, pair.a, settings);
            pair.wire.deliver(pair.b, write(0));
            pair.wire.deliver(pair.b, write(1));
            assertThat(pair.b.events).containsExactly(AsyncEventType.COMMUNICATION_ESTABLISHED);
            assertThat(pair.b.timesReady).isEqualTo(life + 1);
        }
    }

    // ---------------------------------------------------------------- what the peer owes

    @Test
    void numbersBeginAnewAndEverythingWorks() {
        for (int life = 0; life < 3; life++) {
            pair.b.receive(7, 100);
            pair.a.send(1, 100);
            pair.a.read(2, 3 * MTU);
            pair.a.add(3, 5);
            pair.settle();
            pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
            pair.b.assertCompleted("7 SUCCESS");
            assertThat(pair.b.expectedPsn()).isEqualTo(105);
            beginAnew();
            assertThat(pair.b.expectedPsn()).isEqualTo(100);
        }
    }

    @Test
    void requestsOfTheFirstLifeAreGoneWithoutACompletion() {
        pair.b.isStopped = true;
        pair.a.write(1, 100);
        pair.a.read(2, 100);
        pair.run(RcPair.MS);
        beginAnew();
        pair.b.isStopped = false;
        pair.a.write(3, 100);
        pair.settle();
        pair.a.assertCompleted("3 SUCCESS");
    }

    @Test
    void readsThatWereNeverAnsweredTakeNoRoom() {
        settings.readAtomic = 1;
        pair = pair();
        pair.b.isStopped = true;
        pair.a.read(1, 100);
        pair.run(RcPair.MS);
        beginAnew();
        pair.b.isStopped = false;
        assertThat(Effects.of(pair.a, () -> pair.a.read(2, 100))).isEqualTo("READ_REQUEST 0");
    }

    @Test
    void waitForAReceiverIsOver() {
        pair.b.isStopped = true;
        pair.a.send(1, 100);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.rnr(0), 0));
        beginAnew();
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(RetryTimer.NEVER);
        assertThat(Effects.of(pair.a, () -> pair.a.send(2, 100))).isEqualTo("SEND_ONLY 0");
    }

    /** In the first life the peer has offered one receive; in the second it has not said anything yet. */
    @Test
    void creditsOfTheFirstLifeDoNotLimitTheSecond() {
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.settle();
        beginAnew();
        assertThat(Effects.of(pair.a, () -> {
            for (int i = 0; i < 3; i++) {
                pair.a.send(i, 100);
            }
        })).isEqualTo("SEND_ONLY 0 to SEND_ONLY 2");
    }

    @Test
    void retriesThatWereUsedUpAreThereAgain() {
        settings.retryCount = 1;
        settings.timeout = 10;
        pair = pair();
        pair.b.isStopped = true;
        for (int life = 0; life < 2; life++) {
            pair.a.write(1, 100);
            pair.run(settings.timeoutNs() * 3 / 2);
            assertThat(pair.a.completions).isEmpty();
            beginAnew();
        }
    }

    @Test
    void failureOfARequestOfTheFirstLifeFailsNoOther() {
        pair.b.isStopped = true;
        pair.a.write(1, 100);
        pair.a.post(pair.a.writeRequest(2, 0).add(0, 100, 0));
        pair.run(1);
        pair.a.assertCompleted();
        beginAnew();
        pair.b.isStopped = false;
        pair.a.write(3, 100);
        pair.a.write(4, 100);
        pair.settle();
        pair.a.assertCompleted("3 SUCCESS", "4 SUCCESS");
    }

    @Test
    void drainThatWasAskedForIsReportedInNoOtherLife() {
        pair.b.isStopped = true;
        pair.a.write(1, 100);
        pair.run(1);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                .enableSqdAsyncNotify(true));
        assertThat(pair.a.events).isEmpty();
        beginAnew();
        pair.b.isStopped = false;
        pair.a.write(1, 100);
        pair.settle();
        assertThat(pair.a.events).isEmpty();
    }

    @Test
    void lastReceiveOfASharedQueueIsReportedInEachLife() {
        settings.hasSharedReceives = true;
        pair = pair();
        for (int life = 0; life < 2; life++) {
            pair.b.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            assertThat(pair.b.events).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
            pair.b.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            pair.b.events.clear();
            pair.b.bringTo(QueuePairState.RTS, pair.a, settings);
        }
    }
}
