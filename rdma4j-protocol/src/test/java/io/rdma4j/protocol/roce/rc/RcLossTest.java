// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** What the reliable connection does about packets that are lost, late, repeated or not asked for. */
class RcLossTest {
    // [IBTA 9.4.4-1] [IBTA 9.7.1-2] [IBTA 9.7.3-2]
    @Test
    void everySizeAroundThePathMtuArrivesWhole() {
        RcPair pair = new RcPair();
        for (int length : new int[]{0, 1, 3, 4, 1023, 1024, 1025, 2048, 2049, 30000}) {
            pair.b.receive(length, 30000);
            pair.a.send(length, length);
            pair.settle();
            pair.a.assertCompleted(length + " SUCCESS");
            pair.b.assertCompleted(length + " SUCCESS");
            assertThat(pair.b.hasPeersBytes(length)).as("%d bytes", length).isTrue();
        }
    }

    /** {@return a pair whose network loses the first packet that is such, and no other} */
    private static RcPair losingFirst(Predicate<PacketView> isSuch) {
        RcPair pair = new RcPair();
        pair.wire.loseFirst(isSuch);
        return pair;
    }

    private static RcPair losingFirst(Opcode opcode) {
        return losingFirst(packet -> packet.opcode() == opcode);
    }

    @Test
    void lostLastPacketIsSentAgainAfterATime() {
        RcPair pair = losingFirst(Opcode.RC_WRITE_LAST);
        pair.a.write(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.counted(Counter.RCVD_SEQ_ERR)).isZero();
        assertThat(pair.a.counted(Counter.COMPLETER_RETRY_ERR)).isOne();
    }

    @Test
    void lostMiddlePacketIsSentAgainAtOnceBecauseThePeerMissesIt() {
        RcPair pair = losingFirst(Opcode.RC_WRITE_MIDDLE);
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.counted(Counter.RCVD_SEQ_ERR)).isOne();
        assertThat(pair.b.counted(Counter.OUT_OF_SEQ_REQUEST)).isPositive();
    }

    /** Linux rxe overhears a negative answer that follows another without an acknowledgement between. */
    @Test
    void eachMissingPacketIsToldBehindAnAcknowledgementOfThoseBeforeIt() {
        RcPair pair = new RcPair();
        int[] times = new int[16];
        List<String> answers = new ArrayList<>();
        pair.wire.loseIf(packet -> {
            int index = pair.a.index(packet);
            if (packet.opcode() == Opcode.RC_ACKNOWLEDGE) {
                answers.add((packet.syndrome() < Syndrome.NAK_PSN_SEQUENCE_ERROR ? "ack " : "nak ")
                        + index);
                return false;
            }
            times[index]++;
            return (index == 3 && times[index] == 1) || (index == 6 && times[index] == 2);
        });
        pair.a.write(1, 10_000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(answers).containsSequence("ack 2", "nak 3").containsSequence("ack 5", "nak 6");
    }

    /** IBTA 9.7.5.1.1: one gap, one negative answer, however the network mixes up what comes behind. */
    // [IBTA 9.7.5-3]
    @Test
    void packetsThatOvertakeEachOtherBehindAGapCostOneNegativeAnswer() {
        RcPair pair = new RcPair();
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, 10_000);
        pair.run(10_000);
        pair.wire.loseNothing();
        for (int index : new int[]{2, 1, 4, 3, 6, 5}) {
            pair.wire.send(pair.a,
                    pair.a.forge(Opcode.RC_WRITE_MIDDLE, index));
        }
        pair.run(21_000);
        assertThat(pair.b.counted(Counter.OUT_OF_SEQ_REQUEST)).isOne();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** Linux rxe takes a READ whose PSN is acknowledged for done, without its data. */
    // [IBTA 9.7.5-7]
    @Test
    void lostResponseOfAReadIsReplacedByNoAcknowledgement() {
        RcPair pair = new RcPair();
        int[] lost = {0, 0};
        List<Integer> acknowledged = new ArrayList<>();
        pair.wire.loseIf(packet -> {
            if (packet.opcode() == Opcode.RC_ACKNOWLEDGE) {
                if (packet.syndrome() < Syndrome.NAK_PSN_SEQUENCE_ERROR) {
                    acknowledged.add(pair.a.index(packet));
                }
                return false;
            }
            return (packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY && lost[0]++ == 0)
                    || (packet.opcode() == Opcode.RC_WRITE_ONLY
                            && pair.a.index(packet) == 2 && lost[1]++ == 0);
        });
        pair.a.write(1, 100);
        pair.a.read(2, 100);
        pair.a.write(3, 100);
        pair.a.write(4, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        assertThat(lost).containsExactly(2, 2);
        assertThat(acknowledged).doesNotContain(1).contains(3);
    }

    @Test
    void lostAcknowledgementIsGivenAgainForTheRepeatedRequest() {
        RcPair pair = losingFirst(packet -> packet.opcode().isResponse());
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
        assertThat(pair.b.counted(Counter.DUPLICATE_REQUEST)).isOne();
    }

    // [IBTA 9.7.5-1]
    @Test
    void laterAcknowledgementStandsForALostEarlierOne() {
        RcPair pair = losingFirst(packet -> packet.opcode().isResponse());
        pair.a.write(1, 100);
        pair.run(30_000);
        pair.a.write(2, 100);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void lostReadResponseIsAskedForAgainFromThereOn() {
        RcPair pair = losingFirst(Opcode.RC_READ_RESPONSE_MIDDLE);
        pair.a.read(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(5000)).isTrue();
        assertThat(pair.b.counted(Counter.DUPLICATE_REQUEST)).isOne();
    }

    @Test
    void lostReadRequestIsSentAgain() {
        RcPair pair = losingFirst(Opcode.RC_READ_REQUEST);
        pair.a.read(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(5000)).isTrue();
    }

    @Test
    void acknowledgementBehindAReadWhoseResponseIsLostAsksForItAgain() {
        RcPair pair = losingFirst(Opcode.RC_READ_RESPONSE_ONLY);
        pair.a.read(1, 100);
        pair.a.write(2, 100);
        pair.run(2_000_000);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.a.hasPeersBytes(100)).isTrue();
        assertThat(pair.a.counted(Counter.COMPLETER_RETRY_ERR)).isOne();
    }

    /** {@return a pair that knows its round trip} */
    private static RcPair acquainted() {
        RcPair pair = new RcPair();
        pair.a.write(0, 100);
        pair.settle();
        pair.a.assertCompleted("0 SUCCESS");
        return pair;
    }

    @Test
    void lostLastPacketIsSentAgainAloneBeforeLong() {
        RcPair pair = acquainted();
        pair.wire.loseFirst(p -> p.opcode() == Opcode.RC_WRITE_LAST);
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isOne();
    }

    @Test
    void probeFindsOutWhereTheLossBegan() {
        RcPair pair = acquainted();
        int[] sent = {0};
        pair.wire.loseIf(p -> !p.opcode().isResponse() && ++sent[0] > 1
                && sent[0] <= 5);
        pair.a.write(1, 5000);
        pair.run(1_500_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isEqualTo(5);
    }

    @Test
    void lostWordOfAMissingPacketIsAskedForWithTheOldest() {
        RcPair pair = acquainted();
        int[] sent = {0};
        // A peer that stays silent once it has said what it misses, as Linux does.
        pair.wire.loseIf(p -> p.opcode().isResponse()
                ? sent[0] < 7
                : ++sent[0] == 2);
        pair.a.write(1, 5000);
        pair.run(2_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isEqualTo(7);
    }

    @Test
    void lostAcknowledgementCostsOnePacket() {
        RcPair pair = acquainted();
        pair.wire.loseFirst(p -> p.opcode().isResponse());
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isOne();
    }

    @Test
    void lostLastResponseOfAReadIsAskedForAloneBeforeLong() {
        RcPair pair = acquainted();
        int[] responses = {0};
        boolean[] isLost = {false};
        pair.wire.loseIf(p -> {
            responses[0] += p.opcode().isResponse() ? 1 : 0;
            boolean loses = !isLost[0] && p.opcode() == Opcode.RC_READ_RESPONSE_LAST;
            isLost[0] |= loses;
            return loses;
        });
        pair.a.read(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(5000)).isTrue();
        assertThat(responses[0]).isEqualTo(6);
    }

    /** One probe at 0.5, 1, 2, 4 and 8 ms, and all of it after 20: six packets are no flood. */
    @Test
    void peerThatIsSilentForAWhileIsNotFlooded() {
        RcPair pair = acquainted();
        pair.wire.loseIf(p -> p.opcode().isResponse());
        pair.a.write(1, 10_000);
        pair.run(19_000_000);
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isBetween(4L, 6L);
        assertThat(pair.a.counted(Counter.COMPLETER_RETRY_ERR)).isZero();
        pair.wire.loseNothing();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void probeFindsTheReceiverNotReady() {
        RcPair pair = acquainted();
        pair.wire.loseFirst(p -> p.opcode() == Opcode.RC_SEND_ONLY);
        pair.a.send(1, 100);
        pair.run(2_000_000);
        assertThat(pair.a.counted(Counter.RCVD_RNR_ERR)).isPositive();
        pair.b.receive(7, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
    }

    /** Its slot may hold another request by then. */
    @Test
    void bindThatHasEndedIsPassedWithoutALookWhenItsTurnComesAgain() {
        RcPair pair = new RcPair();
        // Two losses leave a window of 8.
        for (int id = 1; id <= 2; id++) {
            pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_WRITE_MIDDLE);
            pair.a.write(id, 3000);
            pair.settle();
        }
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_WRITE_FIRST);
        pair.a.write(3, 4000);
        pair.a.post(pair.a.request(4).opcode(SendOpcode.BIND_MEMORY_WINDOW));
        pair.a.write(5, 100);
        // The third leaves room for what is sent again before the bind, and for no packet behind.
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS", "5 SUCCESS");
        assertThat(pair.a.regions.carriedOut).containsExactly(4L);
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isEqualTo(2 + 2 + 5);
    }

    @Test
    void memoryGoneBeforeTheProbeIsALocalError() {
        RcPair pair = acquainted();
        pair.wire.loseIf(p -> !p.opcode().isResponse());
        pair.a.write(1, 5000);
        pair.a.write(2, 100);
        pair.run(100_000);
        pair.a.regions.close(pair.a.key);
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED");
    }

    @Test
    void tenLossesInARowWithinAMillisecondEndNoConnection() {
        RcPair pair = acquainted();
        int[] lost = {0};
        pair.wire.loseIf(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY
                && lost[0]++ < 10);
        pair.a.read(1, 100);
        for (int i = 2; i < 14; i++) {
            pair.a.write(i, 100);
            pair.run(100_000);
        }
        pair.settle();
        assertThat(lost[0]).isGreaterThan(10);
        assertThat(pair.a.completions).hasSize(13).allMatch(c -> c.isSuccess());
    }

    /** It answers each time, so it is alive; but nothing ever gets through. */
    @Test
    void packetThatIsLostForEverEndsTheConnectionThoughThePeerAnswers() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        settings.timeout = 8;
        settings.retryCount = 2;
        RcPair pair = new RcPair(settings);
        pair.a.write(0, 100);
        pair.settle();
        pair.a.completions.clear();
        pair.wire.loseIf(packet -> packet.opcode() == Opcode.RC_WRITE_ONLY && packet.psn() == 101);
        pair.a.write(1, 100);
        pair.a.write(2, 100);
        pair.settle();
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.counted(Counter.RETRY_EXCEEDED_ERR)).isOne();
        assertThat(pair.wire.nowNs()).isGreaterThan(2 * settings.timeoutNs());
    }

    /** Retries are given back by progress: a long life has any number of time-outs. */
    @Test
    void eachMessageMaySurviveAsManyTimeOutsAsAgreed() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 8;
        settings.retryCount = 1;
        RcPair pair = new RcPair(settings);
        for (int id = 1; id < 4; id++) {
            pair.b.isStopped = true;
            pair.a.write(id, 100);
            pair.run(settings.timeoutNs() * 3 / 2);
            pair.b.isStopped = false;
            pair.settle();
            pair.a.assertCompleted(id + " SUCCESS");
        }
    }

    // [IBTA 9.7.6-1]
    @Test
    void senderGivesUpAfterItsRetriesWhenThePeerIsSilent() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.retryCount = 3;
        RcPair pair = new RcPair(settings);
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.a.write(2, 100);
        long startNs = pair.wire.nowNs();
        pair.settle();
        long timeoutNs = 4096L << settings.timeout;
        assertThat(pair.wire.nowNs() - startNs).isBetween(4 * timeoutNs,
                5 * timeoutNs);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.counted(Counter.RETRY_EXCEEDED_ERR)).isOne();
    }

    @Test
    void senderSucceedsWhenThePeerAnswersTheLastRetry() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.retryCount = 3;
        RcPair pair = new RcPair(settings);
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.run(7 * (4096L << settings.timeout) / 2);
        pair.a.assertCompleted();
        pair.wire.loseNothing();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** A dead peer cannot be distinguished from a slow one. */
    @Test
    void halfAMessageOfAPeerThatDiesStaysUntilTheReceiverSendsItself() {
        RcPair pair = new RcPair();
        pair.b.receive(7, 2500);
        pair.wire.loseIf(packet -> packet.opcode() == Opcode.RC_SEND_LAST);
        pair.a.send(1, 2500);
        pair.run(100_000);
        pair.a.isStopped = true;
        pair.run(RcPair.SECOND);
        pair.b.assertCompleted();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(pair.b.hasPeersBytes(2 * 1024)).isTrue();
        pair.b.send(8, 100);
        pair.settle();
        pair.b.assertCompleted("8 RETRY_EXCEEDED_ERROR", "7 WORK_REQUEST_FLUSHED");
    }

    // [IBTA 9.7.6-2]
    @Test
    void timeoutOfZeroWaitsForEver() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 0;
        settings.retryCount = 0;
        RcPair pair = new RcPair(settings);
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.run(100 * RcPair.SECOND);
        pair.a.assertCompleted();
        pair.wire.loseNothing();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    // [IBTA 9.7.5-8]
    @Test
    void acknowledgementOfNothingOutstandingIsDropped() {
        RcPair pair = new RcPair();
        pair.wire.send(pair.b,
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, 5).acknowledgement(0x1f, 9));
        pair.settle();
        assertThat(pair.a.counted(Counter.DROPPED_GHOST_ACK)).isOne();
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void responseThatDoesNotFitItsReadFailsIt() {
        RcPair pair = new RcPair();
        pair.wire.loseIf(packet -> packet.opcode().isResponse());
        pair.a.read(1, 100);
        pair.run(100_000);
        pair.wire.loseNothing();
        pair.wire.send(pair.b, pair.b.forge(Opcode.RC_READ_RESPONSE_ONLY, 0, 60)
                .acknowledgement(0x1f, 1));
        pair.settle();
        pair.a.assertCompleted("1 BAD_RESPONSE_ERROR");
    }

    /** A peer whose path MTU differs sends other packets than were asked for, also where they travel as one. */
    @ParameterizedTest
    @CsvSource({"1, BAD_RESPONSE_ERROR", "2, BAD_RESPONSE_ERROR", "3, SUCCESS",
        "4, BAD_RESPONSE_ERROR", "12, BAD_RESPONSE_ERROR"})
    void responseInOnePieceCountsItsPacketsByThePathMtuOfTheRequester(int span, String status) {
        RcPair pair = new RcPair();
        pair.wire.loseIf(packet -> packet.opcode().isResponse());
        pair.a.read(1, 3000);
        pair.run(100_000);
        OutgoingPacket response = pair.b.forge(Opcode.RC_READ_RESPONSE_ONLY, 0, 3000)
                .acknowledgement(0x1f, 1).span(span);
        PacketView whole = new PacketView();
        assertThat(whole.wrap(response, MemorySegment.ofArray(new byte[3000]))).isTrue();
        pair.a.queuePair.onPacket(whole, pair.wire.nowNs());
        pair.a.assertCompleted("1 " + status);
    }

    // [IBTA 9.7.1-1]
    @Test
    void psnsWrapAround() {
        // The first PSN is two below the end of the 24 bits.
        RcPair pair = new RcPair();
        for (int i = 0; i < 10; i++) {
            pair.a.write(i, 5000);
            pair.b.read(i, 5000);
            pair.settle();
            pair.a.assertCompleted(i + " SUCCESS");
            pair.b.assertCompleted(i + " SUCCESS");
        }
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    /** What losses cost in time, with packets that take 20 µs to the peer and 20 back. */
    @ParameterizedTest
    @CsvSource({"0, 40", "0.01, 1050", "0.05, 4000"})
    void transferOf256KiBTakesSoManyMicroseconds(double loss, long mostUs) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 16;
        RcPair pair = new RcPair(settings);
        write256KiB(pair);
        Random random = new Random(1);
        pair.wire.loseIf(packet -> random.nextDouble() < loss);
        int rounds = 100;
        long beginNs = pair.wire.nowNs();
        for (int round = 0; round < rounds; round++) {
            write256KiB(pair);
        }
        long tookNs = pair.wire.nowNs() - beginNs;
        assertThat(tookNs / rounds / 1000).isLessThanOrEqualTo(mostUs);
    }

    private static void write256KiB(RcPair pair) {
        for (int id = 1; id <= 8; id++) {
            pair.a.write(id, RcEnd.UPPER);
        }
        pair.settle();
        assertThat(pair.a.completions).hasSize(8).allMatch(c -> c.isSuccess());
        pair.a.completions.clear();
    }
}
