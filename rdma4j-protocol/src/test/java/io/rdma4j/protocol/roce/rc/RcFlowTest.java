// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Receivers that are not ready, credits, fences, limits of READs, several elements. */
class RcFlowTest {
    private static final int DEPTH = 16;

    @Test
    void sendWithoutReceiveWaitsUntilOneIsPosted() {
        RcPair pair = new RcPair();
        pair.a.send(1, 100);
        pair.run(50_000_000);
        pair.a.assertCompleted();
        assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isGreaterThan(10);
        pair.b.receive(7, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
    }

    @Test
    void senderLearnsOfAPostedReceiveBeforeItsTimerEnds() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.minRnrTimer = 0;
        RcPair pair = new RcPair(settings);
        pair.a.send(1, 100);
        pair.run(1_000_000);
        pair.b.receive(7, 100);
        // The timer's code 0 means 655 ms.
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** 0.64 ms for a receive that is nearly there, then 655 ms, so that few repetitions last for a pause. */
    @Test
    void firstWaitForAReceiveCanBeShorterThanTheLaterOnes() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.minRnrTimer = 0;
        settings.rnrRetry = 5;
        RcPair pair = new RcPair(settings);
        pair.b.queuePair.firstRnrTimer(12);
        for (int id = 1; id <= 2; id++) {
            int before = (id - 1) * 5;
            pair.a.send(id, 100);
            pair.run(500_000);
            assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(before + 1);
            pair.run(500_000);
            assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(before + 2);
            pair.run(600_000_000);
            assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(before + 2);
            pair.run(2_000_000_000);
            assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(before + 5);
            if (id == 1) {
                pair.b.receive(7, 100);
                pair.settle();
                pair.a.assertCompleted("1 SUCCESS");
                // The next message begins anew.
                pair.a.completions.clear();
            }
        }
        pair.settle();
        pair.a.assertCompleted("2 RNR_RETRY_EXCEEDED_ERROR");
    }

    @Test
    void whoSetsTheTimerSetsTheFirstWaitToo() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.minRnrTimer = 0;
        RcPair pair = new RcPair(settings);
        pair.b.queuePair.firstRnrTimer(12);
        pair.b.modify(new QueuePairAttributes().minRnrTimerCode(0));
        pair.a.send(1, 100);
        pair.run(600_000_000);
        assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isOne();
    }

    // [IBTA 9.7.6-3]
    @Test
    void senderGivesUpAfterItsRetriesWhenNoReceiveIsPosted() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.rnrRetry = 2;
        RcPair pair = new RcPair(settings);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 RNR_RETRY_EXCEEDED_ERROR");
        assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isEqualTo(3);
        assertThat(pair.a.counted(Counter.RETRY_RNR_EXCEEDED_ERR)).isOne();
    }

    // [IBTA 9.4.3-1]
    @Test
    void writeWithImmediateWritesOnlyOnceItHasAReceive() {
        RcPair pair = new RcPair();
        pair.a.post(pair.a.writeRequest(1, 100).opcode(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE)
                .immediate(0x1234));
        pair.run(10_000_000);
        pair.a.assertCompleted();
        pair.b.receive(7, 0);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions.getFirst().immediate()).isEqualTo(0x1234);
        assertThat(pair.b.completions.getFirst().byteLength()).isEqualTo(100);
        pair.b.assertCompleted("7 SUCCESS");
        assertThat(pair.b.hasPeersBytes(100)).isTrue();
    }

    @Test
    void senderKeepsToTheCreditsOfTheReceiver() {
        RcPair pair = new RcPair();
        pair.b.receive(0, 3000);
        pair.a.send(0, 3000);
        pair.settle();
        List<Opcode> sent = new ArrayList<>();
        pair.wire.loseIf(packet -> {
            if (!packet.opcode().isResponse()) {
                sent.add(packet.opcode());
            }
            return false;
        });
        // The last acknowledgement offered no receive: of a longer message only the first packet
        // may go, and it finds nobody ready.
        pair.a.send(1, 3000);
        pair.run(100_000);
        assertThat(sent).containsExactly(Opcode.RC_SEND_FIRST);
        pair.b.receive(1, 3000);
        pair.settle();
        assertThat(sent).containsExactly(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_FIRST,
                Opcode.RC_SEND_MIDDLE, Opcode.RC_SEND_LAST);
    }

    /** The peer counts a message for each of the requests that a long READ is asked for in, and none for a bind. */
    @Test
    void longReadBeforeMessagesLendsNoCredits() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.mtu = Mtu.MTU_256;
        RcPair pair = new RcPair(settings);
        for (int i = 0; i < 7; i++) {
            pair.b.receive(i, 100);
        }
        pair.a.send(0, 100);
        pair.settle();
        pair.a.read(1, 30_000);
        pair.settle();
        int[] sends = {0};
        pair.wire.loseIf(packet -> {
            sends[0] += packet.opcode() == Opcode.RC_SEND_ONLY ? 1 : 0;
            return false;
        });
        pair.a.send(2, 100);
        pair.run(25_000);
        for (int id = 3; id < 12; id++) {
            pair.a.send(id, 100);
        }
        // The first message is answered, five others are under way: as many as there were receives.
        pair.run(30_000);
        pair.a.assertCompleted("0 SUCCESS", "1 SUCCESS", "2 SUCCESS");
        assertThat(sends[0]).isEqualTo(6);
    }

    /** The count of RNR NAKs is one of the present message, not of the whole life. */
    @Test
    void eachMessageMayFindTheReceiverNotReadyAsOftenAsAgreed() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.rnrRetry = 1;
        RcPair pair = new RcPair(settings);
        for (int id = 1; id < 4; id++) {
            pair.a.send(id, 100);
            pair.run(100_000);
            assertThat(pair.b.counted(Counter.SEND_RNR_ERR)).isEqualTo(id);
            pair.b.receive(id, 100);
            pair.settle();
            pair.a.assertCompleted(id + " SUCCESS");
        }
    }

    /** A network may deliver it twice. */
    @Test
    void copyOfAnRnrNakNeitherCostsARetryNorMakesTheWaitLonger() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.rnrRetry = 1;
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        pair.b.isStopped = true;
        pair.a.send(1, 100);
        pair.run(100_000);
        OutgoingPacket refusal = pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0)
                .acknowledgement(Syndrome.rnr(settings.minRnrTimer), 0);
        pair.wire.deliver(pair.a, refusal);
        long deadlineNs = pair.a.queuePair.deadlineNs();
        assertThat(deadlineNs)
                .isEqualTo(pair.wire.nowNs() + Syndrome.rnrNs(settings.minRnrTimer));
        for (int i = 0; i < 3; i++) {
            pair.run(10_000);
            pair.wire.deliver(pair.a, refusal);
            assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(deadlineNs);
        }
        assertThat(pair.a.completions).isEmpty();
    }

    /** A receive queue may become a shared one's while the connection lives: of that the peer tells no numbers. */
    @Test
    void peerThatStopsCountingReceivesIsSentAllThereIs() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        pair.b.isStopped = true;
        pair.a.write(0, 10);
        pair.run(1);
        pair.wire.deliver(pair.a,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 0).acknowledgement(Syndrome.ack(0), 1));
        assertThat(Effects.of(pair.a, () -> {
            for (int id = 1; id < 4; id++) {
                pair.a.send(id, 100);
            }
        })).isEqualTo("SEND_ONLY 1");
        assertThat(Effects.of(pair.a, () -> pair.wire.arrive(pair.a, pair.b
                .forge(Opcode.RC_ACKNOWLEDGE, 1).acknowledgement(Syndrome.ackUnlimited(), 2))))
                .isEqualTo("SEND_ONLY 2, SEND_ONLY 3, 1 success");
    }

    // [IBTA 9.7.7-2]
    @Test
    void receiversWithASharedQueueTellNoNumbersAndReportTheEndOfTheirShare() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.hasSharedReceives = true;
        RcPair pair = new RcPair(settings);
        List<Integer> credits = new ArrayList<>();
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                if (packet.opcode().hasAcknowledgement()) {
                    credits.add(Syndrome.credits(packet.syndrome()));
                }
            }
        });
        pair.b.receive(7, 100);
        pair.b.receive(8, 100);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.read(2, 100);
        pair.settle();
        assertThat(credits).hasSize(2).allMatch(c -> c < 0);
        pair.b.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        // What is left may still be taken by others.
        pair.b.assertCompleted("7 SUCCESS");
        assertThat(pair.b.receives.available()).isOne();
        assertThat(pair.b.events).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
    }

    @Test
    void messageThatHadBegunInASharedQueueIsFlushed() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.hasSharedReceives = true;
        RcPair pair = new RcPair(settings);
        pair.b.receive(7, 3000);
        pair.b.receive(8, 3000);
        pair.wire.deliver(pair.b, pair.a.forge(Opcode.RC_SEND_FIRST, 0, 1024));
        pair.b.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        pair.b.assertCompleted("7 WORK_REQUEST_FLUSHED");
    }

    /** The two attributes that may be changed in this state. IBTA 10.3.1.6. */
    @Test
    void numbersOfReadsAreChangedWhenTheSendQueueIsDrained() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.readAtomic = 1;
        settings.readsServed = 1;
        RcPair pair = new RcPair(settings);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD).maxReadAtomic(4));
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        pair.b.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        pair.b.modify(
                new QueuePairAttributes().state(QueuePairState.SQD).maxDestinationReadAtomic(4));
        pair.b.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(Effects.of(pair.a, () -> {
            for (int id = 1; id < 6; id++) {
                pair.a.read(id, 100);
            }
        })).isEqualTo("READ_REQUEST 0 to READ_REQUEST 3");
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS", "5 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void receiveThatComesLateLetsTheNextLossBeTold() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.minRnrTimer = 31;
        RcPair pair = new RcPair(settings);
        pair.b.receive(0, 100);
        pair.a.send(0, 100);
        pair.settle();
        // Without a credit one packet goes alone.
        pair.a.send(1, 3000);
        pair.run(100_000);
        assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isOne();
        boolean[] isLost = {false};
        pair.wire.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == Opcode.RC_SEND_FIRST;
            isLost[0] |= loses;
            return loses;
        });
        pair.b.receive(7, 3000);
        // The receive is announced, the message is sent at once, and its missing packets are reported at once.
        pair.run(200_000);
        pair.b.assertCompleted("0 SUCCESS", "7 SUCCESS");
        assertThat(isLost[0]).isTrue();
    }

    @Test
    void writesNeedNoCredits() {
        RcPair pair = new RcPair();
        pair.b.receive(0, 10);
        pair.a.send(0, 10);
        pair.settle();
        pair.a.completions.clear();
        for (int i = 1; i <= DEPTH; i++) {
            pair.a.write(i, 100);
        }
        pair.run(60_000);
        assertThat(pair.a.completions).hasSize(DEPTH);
    }

    // [IBTA 9.5-2]
    @Test
    void fenceHoldsARequestUntilEarlierReadsAreComplete() {
        RcPair pair = new RcPair();
        pair.wire.loseIf(packet -> packet.opcode().isResponse());
        pair.a.read(1, 100);
        pair.a.post(pair.a.writeRequest(2, 100).set(SendFlag.FENCE));
        pair.run(1_000_000);
        assertThat(pair.b.upperByte(0)).isZero();
        pair.wire.loseNothing();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.b.hasPeersBytes(100)).isTrue();
    }

    // [IBTA 9.7.3-1]
    @Test
    void noMoreReadsAreOutstandingThanAgreed() {
        RcPair pair = new RcPair();
        int[] outstanding = new int[2];
        pair.wire.loseIf(packet -> {
            switch (packet.opcode()) {
                case RC_READ_REQUEST -> outstanding[1] = Math.max(outstanding[1],
                        ++outstanding[0]);
                case RC_READ_RESPONSE_ONLY -> outstanding[0]--;
                default -> {
                    // Neither asks nor answers.
                }
            }
            return false;
        });
        for (int i = 0; i < DEPTH; i++) {
            pair.a.read(i, 100);
        }
        pair.settle();
        assertThat(pair.a.completions).hasSize(DEPTH).allMatch(c -> c.isSuccess());
        assertThat(outstanding[1]).isEqualTo(4);
    }

    @Test
    void readWithoutAnyAgreedIsALocalError() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.readAtomic = 0;
        RcPair pair = new RcPair(settings);
        pair.a.read(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_QP_OPERATION_ERROR");
    }

    @Test
    void longReadsAreAskedForInPiecesThatFitTheWindow() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.mtu = Mtu.MTU_256;
        RcPair pair = new RcPair(settings);
        int[] requests = {0};
        pair.wire.loseIf(packet -> {
            requests[0] += packet.opcode() == Opcode.RC_READ_REQUEST ? 1 : 0;
            return false;
        });
        pair.a.read(1, RcEnd.UPPER);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(RcEnd.UPPER)).isTrue();
        assertThat(requests[0]).isGreaterThan(4);
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void gatherAndScatterCrossElementAndPacketBoundaries() {
        RcPair pair = new RcPair();
        pair.b.post(new ReceiveWorkRequest().id(7)
                .add(pair.b.address + RcEnd.UPPER, 1500, pair.b.key)
                .add(pair.b.address + RcEnd.UPPER + 1500, 5000, pair.b.key));
        // The first packet ends in the second element, the second begins there and ends in the third.
        pair.a.post(pair.a.request(1).send().add(pair.a.address, 700, pair.a.key)
                .add(pair.a.address + 700, 800, pair.a.key)
                .add(pair.a.address + 1500, 2200, pair.a.key));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions.getFirst().byteLength()).isEqualTo(3700);
        assertThat(pair.b.hasPeersBytes(3700)).isTrue();
    }

    @Test
    void hostIsToldHowLongThePeerHasHadNoReceive() {
        RcPair pair = new RcPair();
        pair.a.send(1, 100);
        pair.run(3 * RcPair.SECOND);
        assertThat(pair.a.lacks()).isOne();
        assertThat(pair.a.longestLackNs()).isBetween(29 * RcPair.SECOND / 10, 3 * RcPair.SECOND);
        pair.b.receive(10, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        // The next silence is counted anew.
        pair.a.send(2, 100);
        pair.run(RcPair.SECOND);
        assertThat(pair.a.lacks()).isEqualTo(2);
        assertThat(pair.a.longestLackNs()).isLessThan(RcPair.SECOND);
    }
}
