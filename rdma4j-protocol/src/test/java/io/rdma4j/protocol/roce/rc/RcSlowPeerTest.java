// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What the reliable connection does about peers and networks that are slow, and lose little or nothing. */
class RcSlowPeerTest {
    private static final long MS = 1_000_000;
    /** The bound for a peer that stands still for a second and loses nothing. */
    private static final long MOST_REPEATED = 10;
    private static final int MESSAGE = RcEnd.UPPER;

    enum Work {
        WRITE, SEND, READ, SHORT_SENDS, SHORT_READS
    }

    /** {@return settings as the connection manager makes them} */
    private static RcPair.Settings managed() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 16;
        return settings;
    }

    private static void post(RcPair pair, Work work) {
        for (int id = 1; id <= 8; id++) {
            switch (work) {
                case WRITE -> pair.a.write(id, MESSAGE);
                case SEND -> {
                    pair.b.receive(100 + id, MESSAGE);
                    pair.a.send(id, MESSAGE);
                }
                case READ -> pair.a.read(id, MESSAGE);
                case SHORT_SENDS -> {
                    pair.b.receive(100 + id, 100);
                    pair.a.send(id, 100);
                }
                case SHORT_READS -> pair.a.read(id, 100);
            }
        }
    }

    private static void warmUp(RcPair pair) {
        pair.a.write(0, MESSAGE);
        pair.settle();
        pair.a.completions.clear();
    }

    private static void assertEightSucceeded(RcPair pair) {
        assertThat(pair.a.completions).hasSize(8).allMatch(c -> c.isSuccess());
    }

    private static long repeated(RcPair pair) {
        return pair.a.counted(Counter.RETRANSMITTED_PKTS);
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStandsStillForASecondCostsFewRepeatedPackets(Work work) {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        pair.b.isStopped = true;
        post(pair, work);
        pair.run(1000 * MS);
        pair.b.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isBetween(1L, MOST_REPEATED);
    }

    /** Three times as long as all retries take. */
    @ParameterizedTest
    @EnumSource(Work.class)
    void networkThatTakesNothingForAWhileDoesNotEndTheConnection(Work work) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 14;
        RcPair pair = new RcPair(settings);
        warmUp(pair);
        pair.wire.loseIf(packet -> true);
        post(pair, work);
        pair.run(MS);
        pair.wire.loseNothing();
        pair.a.isHeldUp = true;
        pair.run(1600 * MS);
        assertThat(pair.a.completions).isEmpty();
        pair.a.isHeldUp = false;
        pair.settle();
        assertEightSucceeded(pair);
    }

    /** What is not answered is no reason to send more of it. */
    @Test
    void behindATimeOutAlmostNothingIsSentUntilThePeerAnswers() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 8;
        RcPair pair = new RcPair(settings);
        warmUp(pair);
        pair.b.isStopped = true;
        pair.a.write(1, 100);
        pair.run(settings.timeoutNs() + 1);
        assertThat(Effects.of(pair.a, () -> {
            for (int id = 2; id < 20; id++) {
                pair.a.write(id, 100);
            }
        })).matches("WRITE_ONLY \\d+");
        pair.b.isStopped = false;
        pair.settle();
        assertThat(pair.a.completions).hasSize(19).allMatch(RcEnd.Completion::isSuccess);
    }

    @Test
    void timeInWhichTheNetworkTookNothingIsForgottenWithTheNextAnswer() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 8;
        settings.retryCount = 0;
        RcPair pair = new RcPair(settings);
        warmUp(pair);
        for (int id = 1; id < 4; id++) {
            pair.b.isStopped = true;
            pair.a.write(id, 100);
            pair.run(1);
            pair.a.isHeldUp = true;
            pair.run(3 * settings.timeoutNs() + 1);
            pair.a.isHeldUp = false;
            pair.b.isStopped = false;
            pair.settle();
        }
        assertThat(pair.a.completions).isNotEmpty().allMatch(RcEnd.Completion::isSuccess);
    }

    @Test
    void networkThatTakesNothingForGoodDoes() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 14;
        RcPair pair = new RcPair(settings);
        warmUp(pair);
        pair.wire.loseIf(packet -> true);
        pair.a.write(1, MESSAGE);
        pair.run(MS);
        pair.a.isHeldUp = true;
        pair.run(3000 * MS);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStandsStillForASecondFromTheFirstPacketOnCostsFewRepeatedPackets(Work work) {
        RcPair pair = new RcPair(managed());
        pair.b.isStopped = true;
        post(pair, work);
        pair.run(1000 * MS);
        pair.b.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isBetween(1L, MOST_REPEATED);
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStopsInTheMiddleCostsFewRepeatedPackets(Work work) {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        post(pair, work);
        pair.run(30_000);
        pair.b.isStopped = true;
        pair.run(1000 * MS);
        pair.b.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isLessThanOrEqualTo(MOST_REPEATED);
    }

    /** Through memory nothing is lost, and a peer is merely slow: only the standard's own clock asks. */
    @ParameterizedTest
    @EnumSource(Work.class)
    void onAPathThatLosesNothingOnlyTheTimeOutAsks(Work work) {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        pair.a.isLossless = true;
        pair.b.isStopped = true;
        post(pair, work);
        pair.run(200 * MS);
        assertThat(repeated(pair)).isZero();
        pair.run(100 * MS);
        assertThat(repeated(pair)).isOne();
        pair.b.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isLessThanOrEqualTo(2);
    }

    @Test
    void aPathThatTurnsOutToLosePacketsIsAskedAboutSoon() {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        pair.a.isLossless = true;
        pair.b.isStopped = true;
        post(pair, Work.WRITE);
        pair.run(50 * MS);
        pair.a.isLossless = false;
        pair.run(120 * MS);
        assertThat(repeated(pair)).isBetween(1L, MOST_REPEATED);
    }

    /** A second response carries data that the requester already has. */
    @Test
    void responderThatStandsStillSendsTheDataOfAReadFewTimes() {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        post(pair, Work.READ);
        pair.run(30_000);
        pair.b.isStopped = true;
        pair.run(1000 * MS);
        pair.b.isStopped = false;
        int before = pair.wire.packets();
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(pair.wire.packets() - before)
                .isLessThan(2 * 8 * MESSAGE / 1024);
    }

    /** What was on its way when it was noticed goes on to come for long after. */
    @ParameterizedTest
    @ValueSource(longs = {1000, 10_000, 100_000})
    void lostReadResponseOnASlowLinkIsAskedForFewTimes(long linkNs) {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        pair.wire.linkNs = linkNs;
        boolean[] isLost = {false};
        pair.wire.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == Opcode.RC_READ_RESPONSE_MIDDLE;
            isLost[0] |= loses;
            return loses;
        });
        int before = pair.wire.packets();
        post(pair, Work.READ);
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(isLost[0]).isTrue();
        assertThat(pair.wire.packets() - before)
                .isLessThan(5 * 8 * MESSAGE / 1024 / 2);
    }

    @Test
    void fiveStopsOfFourHundredMillisecondsAreNoStorm() {
        RcPair pair = new RcPair();
        warmUp(pair);
        for (int stop = 1; stop <= 5; stop++) {
            pair.a.completions.clear();
            post(pair, Work.WRITE);
            pair.run(30_000);
            pair.b.isStopped = true;
            pair.run(400 * MS);
            pair.b.isStopped = false;
            pair.settle();
            assertEightSucceeded(pair);
            assertThat(repeated(pair)).isLessThanOrEqualTo(stop * MOST_REPEATED);
        }
    }

    /** Each acknowledgement comes late, and a whole series of asking with it, unless the requester learns. */
    @ParameterizedTest
    @ValueSource(longs = {5 * MS, 40 * MS, 90 * MS})
    void delayThatJumpsIsLearntWithinAFewMessages(long latencyNs) {
        RcPair pair = new RcPair(managed());
        warmUp(pair);
        pair.wire.latencyNs = latencyNs;
        for (int id = 1; id <= 40; id++) {
            pair.b.receive(100 + id, 100);
            pair.a.send(id, 100);
            pair.settle();
        }
        assertThat(pair.a.completions).hasSize(40).allMatch(c -> c.isSuccess());
        assertThat(repeated(pair)).isLessThanOrEqualTo(2 * MOST_REPEATED);
    }

    @Test
    void lateAnswersToALongMessageLeaveTheWindowAsItWas() {
        RcPair pair = new RcPair(managed());
        for (int i = 0; i < 8; i++) {
            warmUp(pair);
        }
        long quickNs = durationOfEightMessages(pair);
        pair.a.write(1, MESSAGE);
        pair.run(10_000);
        pair.b.isStopped = true;
        pair.run(200 * MS);
        pair.b.isStopped = false;
        pair.settle();
        assertThat(durationOfEightMessages(pair)).isEqualTo(quickNs);
    }

    /** More packets than a window has that has only begun to grow. */
    private static long durationOfEightMessages(RcPair pair) {
        long startNs = pair.wire.nowNs();
        pair.a.completions.clear();
        post(pair, Work.WRITE);
        for (int step = 0; step < 10_000 && pair.a.completions.size() < 8; step++) {
            pair.wire.step();
        }
        assertEightSucceeded(pair);
        return pair.wire.nowNs() - startNs;
    }

    @Test
    void newQueuePairKnowsTheRoundTripOfItsPeer() {
        RcPair.Devices devices = new RcPair.Devices();
        devices.wire.latencyNs = 5 * MS;
        warmUp(new RcPair(managed(), devices));
        RcPair pair = new RcPair(managed(), devices);
        pair.wire.loseFirst(packet -> packet.opcode() == Opcode.RC_SEND_ONLY);
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.run(100 * MS);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void stopUnderManyQueuePairsCostsEachFewPackets() {
        int count = 8;
        Load load = new Load(count, 1000, Integer.MAX_VALUE);
        load.begin();
        load.wire.run(100_000);
        load.stopReceivers(true);
        load.wire.run(1000 * MS);
        load.stopReceivers(false);
        load.finish();
        assertThat(load.repeated()).as(load.toString()).isBetween(1L, count * MOST_REPEATED);
    }

    /** A receiver that takes its time for each packet, and forgets nothing, however many send to it. */
    @ParameterizedTest
    @CsvSource({"20, 4000", "20, 400000", "20, 1000000", "2, 10000000"})
    void manyQueuePairsToOneSlowReceiverRepeatLittle(int count, long linkNs) {
        Load load = new Load(count, linkNs, Integer.MAX_VALUE);
        load.run();
        assertThat(load.repeated()).as(load.toString()).isLessThanOrEqualTo(load.needed() / 4);
    }

    @ParameterizedTest
    @CsvSource({"8, 10000, 64", "8, 100000, 64", "20, 10000, 100", "1, 10000, 20"})
    void bottleneckWithAShortQueueIsSharedWithoutAStorm(int count, long linkNs, int queue) {
        Load load = new Load(count, linkNs, queue);
        load.run();
        assertThat(load.lost()).isPositive();
        assertThat(load.repeated()).as(load.toString()).isLessThanOrEqualTo(3 * load.needed());
    }

    /** Some queue pairs that send three messages each to one device, behind one link. */
    private static final class Load {
        private static final int MESSAGES = 3;
        private final RcPair.Devices devices = new RcPair.Devices();
        private final Wire wire = devices.wire;
        private final List<RcPair> pairs = new ArrayList<>();

        Load(int count, long linkNs, int queue) {
            wire.linkNs = linkNs;
            wire.linkQueue = queue;
            for (int i = 0; i < count; i++) {
                RcPair pair = new RcPair(managed(), devices);
                pairs.add(pair);
                for (int id = 1; id <= MESSAGES; id++) {
                    pair.b.receive(id, MESSAGE);
                }
            }
        }

        void run() {
            begin();
            finish();
        }

        void begin() {
            for (RcPair pair : pairs) {
                for (int id = 1; id <= MESSAGES; id++) {
                    pair.a.send(id, MESSAGE);
                }
            }
        }

        void stopReceivers(boolean isStopped) {
            pairs.forEach(pair -> pair.b.isStopped = isStopped);
        }

        void finish() {
            wire.settle();
            pairs.forEach(pair -> pair.a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS"));
        }

        long needed() {
            return (long) pairs.size() * MESSAGES * MESSAGE / 1024;
        }

        long repeated() {
            return pairs.stream().mapToLong(RcSlowPeerTest::repeated).sum();
        }

        @Override
        public String toString() {
            return pairs.size() + " queue pairs, " + needed() + " packets needed, " + lost()
                    + " lost";
        }

        int lost() {
            return wire.lostAtLink();
        }
    }
}
