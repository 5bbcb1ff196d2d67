package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Layouts;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** What the reliable connection does about packets that are lost, late, repeated or not asked for. */
class RcLossTest {
    @Test
    void everySizeAroundThePathMtuArrivesWhole() throws Exception {
        Pair pair = new Pair();
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
    private static Pair losingFirst(Predicate<PacketView> isSuch) throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.loseIf(first(isSuch));
        return pair;
    }

    private static Pair losingFirst(Opcode opcode) throws Exception {
        return losingFirst(packet -> packet.opcode() == opcode);
    }

    @Test
    void lostLastPacketIsSentAgainAfterATime() throws Exception {
        Pair pair = losingFirst(Opcode.RC_WRITE_LAST);
        pair.a.write(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.RCVD_SEQ_ERR)).isZero();
        assertThat(pair.a.queuePair.counter(Counter.COMPLETER_RETRY_ERR)).isOne();
    }

    @Test
    void lostMiddlePacketIsSentAgainAtOnceBecauseThePeerMissesIt() throws Exception {
        Pair pair = losingFirst(Opcode.RC_WRITE_MIDDLE);
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.RCVD_SEQ_ERR)).isOne();
        assertThat(pair.b.queuePair.counter(Counter.OUT_OF_SEQ_REQUEST)).isPositive();
    }

    /** Linux rxe overhears a negative answer that follows another without an acknowledgement between. */
    @Test
    void eachMissingPacketIsToldBehindAnAcknowledgementOfThoseBeforeIt() throws Exception {
        Pair pair = new Pair();
        int[] times = new int[16];
        List<String> answers = new ArrayList<>();
        pair.simulation.network.loseIf(packet -> {
            int index = packet.psn() - Pair.FIRST_PSN & Psn.MASK;
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
    @Test
    void packetsThatOvertakeEachOtherBehindAGapCostOneNegativeAnswer() throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.loseIf(packet -> true);
        pair.a.write(1, 10_000);
        pair.run(10_000);
        pair.simulation.network.loseIf(null);
        for (int index : new int[]{2, 1, 4, 3, 6, 5}) {
            pair.simulation.network.inject(
                    pair.a.forge(Opcode.RC_WRITE_MIDDLE, Pair.FIRST_PSN + index));
        }
        pair.run(21_000);
        assertThat(pair.b.queuePair.counter(Counter.OUT_OF_SEQ_REQUEST)).isOne();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** Linux rxe takes a READ whose PSN is acknowledged for done, without its data. */
    @Test
    void lostResponseOfAReadIsReplacedByNoAcknowledgement() throws Exception {
        Pair pair = new Pair();
        int[] lost = {0, 0};
        List<Integer> acknowledged = new ArrayList<>();
        pair.simulation.network.loseIf(packet -> {
            if (packet.opcode() == Opcode.RC_ACKNOWLEDGE) {
                if (packet.syndrome() < Syndrome.NAK_PSN_SEQUENCE_ERROR) {
                    acknowledged.add(packet.psn() - Pair.FIRST_PSN & Psn.MASK);
                }
                return false;
            }
            return (packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY && lost[0]++ == 0)
                    || (packet.opcode() == Opcode.RC_WRITE_ONLY
                            && (packet.psn() - Pair.FIRST_PSN & Psn.MASK) == 2 && lost[1]++ == 0);
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
    void lostAcknowledgementIsGivenAgainForTheRepeatedRequest() throws Exception {
        Pair pair = losingFirst(packet -> packet.opcode().isResponse());
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
        assertThat(pair.b.queuePair.counter(Counter.DUPLICATE_REQUEST)).isOne();
    }

    @Test
    void laterAcknowledgementStandsForALostEarlierOne() throws Exception {
        Pair pair = losingFirst(packet -> packet.opcode().isResponse());
        pair.a.write(1, 100);
        pair.run(30_000);
        pair.a.write(2, 100);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void lostReadResponseIsAskedForAgainFromThereOn() throws Exception {
        Pair pair = losingFirst(Opcode.RC_READ_RESPONSE_MIDDLE);
        pair.a.read(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(5000)).isTrue();
        assertThat(pair.b.queuePair.counter(Counter.DUPLICATE_REQUEST)).isOne();
    }

    @Test
    void lostReadRequestIsSentAgain() throws Exception {
        Pair pair = losingFirst(Opcode.RC_READ_REQUEST);
        pair.a.read(1, 5000);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.hasPeersBytes(5000)).isTrue();
    }

    @Test
    void acknowledgementBehindAReadWhoseResponseIsLostAsksForItAgain() throws Exception {
        Pair pair = losingFirst(Opcode.RC_READ_RESPONSE_ONLY);
        pair.a.read(1, 100);
        pair.a.write(2, 100);
        pair.run(2_000_000);
        pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(pair.a.hasPeersBytes(100)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.COMPLETER_RETRY_ERR)).isOne();
    }

    /** {@return a pair that knows its round trip} */
    private static Pair acquainted() throws Exception {
        Pair pair = new Pair();
        pair.a.write(0, 100);
        pair.settle();
        pair.a.assertCompleted("0 SUCCESS");
        return pair;
    }

    @Test
    void lostLastPacketIsSentAgainAloneBeforeLong() throws Exception {
        Pair pair = acquainted();
        pair.simulation.network.loseIf(first(p -> p.opcode() == Opcode.RC_WRITE_LAST));
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isOne();
    }

    @Test
    void probeFindsOutWhereTheLossBegan() throws Exception {
        Pair pair = acquainted();
        int[] sent = {0};
        pair.simulation.network.loseIf(p -> !p.opcode().isResponse() && ++sent[0] > 1
                && sent[0] <= 5);
        pair.a.write(1, 5000);
        pair.run(1_500_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(5000)).isTrue();
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isEqualTo(5);
    }

    @Test
    void lostWordOfAMissingPacketIsAskedForWithTheOldest() throws Exception {
        Pair pair = acquainted();
        int[] sent = {0};
        // A peer that stays silent once it has said what it misses, as Linux does.
        pair.simulation.network.loseIf(p -> p.opcode().isResponse()
                ? sent[0] < 7
                : ++sent[0] == 2);
        pair.a.write(1, 5000);
        pair.run(2_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isEqualTo(7);
    }

    @Test
    void lostAcknowledgementCostsOnePacket() throws Exception {
        Pair pair = acquainted();
        pair.simulation.network.loseIf(first(p -> p.opcode().isResponse()));
        pair.a.write(1, 5000);
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isOne();
    }

    @Test
    void lostLastResponseOfAReadIsAskedForAloneBeforeLong() throws Exception {
        Pair pair = acquainted();
        int[] responses = {0};
        boolean[] isLost = {false};
        pair.simulation.network.loseIf(p -> {
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
    void peerThatIsSilentForAWhileIsNotFlooded() throws Exception {
        Pair pair = acquainted();
        pair.simulation.network.loseIf(p -> p.opcode().isResponse());
        pair.a.write(1, 10_000);
        pair.run(19_000_000);
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isBetween(4L, 6L);
        assertThat(pair.a.queuePair.counter(Counter.COMPLETER_RETRY_ERR)).isZero();
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void probeFindsTheReceiverNotReady() throws Exception {
        Pair pair = acquainted();
        pair.simulation.network.loseIf(first(p -> p.opcode() == Opcode.RC_SEND_ONLY));
        pair.a.send(1, 100);
        pair.run(2_000_000);
        assertThat(pair.a.queuePair.counter(Counter.RCVD_RNR_ERR)).isPositive();
        pair.b.receive(7, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("7 SUCCESS");
    }

    @Test
    void memoryGoneBeforeTheProbeIsALocalError() throws Exception {
        Pair pair = acquainted();
        pair.simulation.network.loseIf(p -> !p.opcode().isResponse());
        pair.a.write(1, 5000);
        pair.a.write(2, 100);
        pair.run(100_000);
        pair.a.region.close();
        pair.settle();
        pair.a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED");
    }

    @Test
    void tenLossesInARowWithinAMillisecondEndNoConnection() throws Exception {
        Pair pair = acquainted();
        int[] lost = {0};
        pair.simulation.network.loseIf(packet -> packet.opcode() == Opcode.RC_READ_RESPONSE_ONLY
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

    @Test
    void senderGivesUpAfterItsRetriesWhenThePeerIsSilent() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.retryCount = 3;
        Pair pair = new Pair(settings);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.a.write(2, 100);
        long startNs = pair.simulation.network.nowNs();
        pair.settle();
        long timeoutNs = 4096L << settings.timeout;
        assertThat(pair.simulation.network.nowNs() - startNs).isBetween(4 * timeoutNs,
                5 * timeoutNs);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.queuePair.counter(Counter.RETRY_EXCEEDED_ERR)).isOne();
    }

    @Test
    void senderSucceedsWhenThePeerAnswersTheLastRetry() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.retryCount = 3;
        Pair pair = new Pair(settings);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.run(7 * (4096L << settings.timeout) / 2);
        pair.a.assertCompleted();
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void timeoutOfZeroWaitsForEver() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.timeout = 0;
        settings.retryCount = 0;
        Pair pair = new Pair(settings);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.run(100 * Pair.SECOND);
        pair.a.assertCompleted();
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void acknowledgementOfNothingOutstandingIsDropped() throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.inject(
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, Pair.FIRST_PSN + 5).acknowledgement(0x1f, 9));
        pair.settle();
        assertThat(pair.a.queuePair.counter(Counter.DROPPED_GHOST_ACK)).isOne();
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void responseThatDoesNotFitItsReadFailsIt() throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.loseIf(packet -> packet.opcode().isResponse());
        pair.a.read(1, 100);
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        var response = pair.b.forge(Opcode.RC_READ_RESPONSE_ONLY, Pair.FIRST_PSN)
                .acknowledgement(0x1f, 1);
        response.addPayload(pair.b.memory, 0, 60);
        pair.simulation.network.inject(response);
        pair.settle();
        pair.a.assertCompleted("1 BAD_RESPONSE_ERROR");
    }

    @Test
    void psnsWrapAround() throws Exception {
        // The first PSN is two below the end of the 24 bits.
        Pair pair = new Pair();
        for (int i = 0; i < 10; i++) {
            pair.a.write(i, 5000);
            pair.b.read(i, 5000);
            pair.settle();
            pair.a.assertCompleted(i + " SUCCESS");
            pair.b.assertCompleted(i + " SUCCESS");
        }
        assertThat(pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @Test
    void aPacketFromAnotherAddressIsDropped() throws Exception {
        Pair pair = new Pair();
        var forged = pair.a.forge(Opcode.RC_WRITE_ONLY, Pair.FIRST_PSN)
                .rdma(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey(), 0);
        byte[] bytes = new byte[forged.totalLength()];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        int length = forged.copyTo(memory, 0);
        Gid stranger = Gid
                .of(InetAddress.ofLiteral("127.0.0.9"));
        int crc = new Icrc().compute(stranger,
                forged.path().destination(), 4791, 4791, 0, ByteBuffer.wrap(bytes), 0,
                length);
        memory.set(Layouts.U32_LITTLE, length, crc);
        pair.simulation.network.inject(stranger, forged.path().destination(), bytes);
        pair.settle();
        assertThat(pair.b.queuePair.counter(Counter.DROPPED_WRONG_SOURCE)).isOne();
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }

    /** {@return a rule that holds for the first packet it fits only} */
    private static Predicate<PacketView> first(Predicate<PacketView> rule) {
        boolean[] hasHeld = new boolean[1];
        return packet -> {
            boolean holds = !hasHeld[0] && rule.test(packet);
            hasHeld[0] |= holds;
            return holds;
        };
    }

    /** What losses cost in time, with packets that take 20 µs to the peer and 20 back. */
    @ParameterizedTest
    @CsvSource({"0, 40", "0.01, 1050", "0.05, 4000"})
    void transferOf256KiBTakesSoManyMicroseconds(double loss, long mostUs) throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.timeout = 16;
        Pair pair = new Pair(settings);
        write256KiB(pair);
        Random random = new Random(1);
        pair.simulation.network.loseIf(packet -> random.nextDouble() < loss);
        int rounds = 100;
        long beginNs = pair.simulation.network.nowNs();
        for (int round = 0; round < rounds; round++) {
            write256KiB(pair);
        }
        long tookNs = pair.simulation.network.nowNs() - beginNs;
        assertThat(tookNs / rounds / 1000).isLessThanOrEqualTo(mostUs);
    }

    private static void write256KiB(Pair pair) throws Exception {
        for (int id = 1; id <= 8; id++) {
            pair.a.write(id, Pair.MEMORY / 2);
        }
        pair.settle();
        assertThat(pair.a.completions).hasSize(8).allMatch(c -> c.isSuccess());
        pair.a.completions.clear();
    }
}
