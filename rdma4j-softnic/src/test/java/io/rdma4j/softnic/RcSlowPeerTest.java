package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.RdmaException;
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
    private static final int MESSAGE = Pair.MEMORY / 2;

    enum Work {
        WRITE, SEND, READ, SHORT_SENDS, SHORT_READS
    }

    /** {@return settings as the connection manager makes them} */
    private static Pair.Settings managed() {
        Pair.Settings settings = new Pair.Settings();
        settings.timeout = 16;
        return settings;
    }

    private static void post(Pair pair, Work work) throws RdmaException {
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

    private static void warmUp(Pair pair) throws RdmaException {
        pair.a.write(0, MESSAGE);
        pair.settle();
        pair.a.completions.clear();
    }

    private static void assertEightSucceeded(Pair pair) {
        assertThat(pair.a.completions).hasSize(8).allMatch(c -> c.isSuccess());
    }

    private static long repeated(Pair pair) throws RdmaException {
        return pair.a.queuePair.counter(Counter.RETRANSMITTED_PKTS);
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStandsStillForASecondCostsFewRepeatedPackets(Work work) throws Exception {
        Pair pair = new Pair(managed());
        warmUp(pair);
        pair.b.node.isStopped = true;
        post(pair, work);
        pair.run(1000 * MS);
        pair.b.node.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isBetween(1L, MOST_REPEATED);
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStandsStillForASecondFromTheFirstPacketOnCostsFewRepeatedPackets(Work work)
            throws Exception {
        Pair pair = new Pair(managed());
        pair.b.node.isStopped = true;
        post(pair, work);
        pair.run(1000 * MS);
        pair.b.node.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isBetween(1L, MOST_REPEATED);
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void peerThatStopsInTheMiddleCostsFewRepeatedPackets(Work work) throws Exception {
        Pair pair = new Pair(managed());
        warmUp(pair);
        post(pair, work);
        pair.run(30_000);
        pair.b.node.isStopped = true;
        pair.run(1000 * MS);
        pair.b.node.isStopped = false;
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(repeated(pair)).isLessThanOrEqualTo(MOST_REPEATED);
    }

    /** What is answered twice is data that nobody needs. */
    @Test
    void responderThatStandsStillSendsTheDataOfAReadFewTimes() throws Exception {
        Pair pair = new Pair(managed());
        warmUp(pair);
        post(pair, Work.READ);
        pair.run(30_000);
        pair.b.node.isStopped = true;
        pair.run(1000 * MS);
        pair.b.node.isStopped = false;
        int before = pair.simulation.network.packets();
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(pair.simulation.network.packets() - before)
                .isLessThan(2 * 8 * MESSAGE / 1024);
    }

    /** What was on its way when it was noticed goes on to come for long after. */
    @ParameterizedTest
    @ValueSource(longs = {1000, 10_000, 100_000})
    void lostReadResponseOnASlowLinkIsAskedForFewTimes(long linkNs) throws Exception {
        Pair pair = new Pair(managed());
        warmUp(pair);
        pair.simulation.network.linkNs = linkNs;
        boolean[] isLost = {false};
        pair.simulation.network.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == Opcode.RC_READ_RESPONSE_MIDDLE;
            isLost[0] |= loses;
            return loses;
        });
        int before = pair.simulation.network.packets();
        post(pair, Work.READ);
        pair.settle();
        assertEightSucceeded(pair);
        assertThat(isLost[0]).isTrue();
        assertThat(pair.simulation.network.packets() - before)
                .isLessThan(5 * 8 * MESSAGE / 1024 / 2);
    }

    @Test
    void fiveStopsOfFourHundredMillisecondsAreNoStorm() throws Exception {
        Pair pair = new Pair();
        warmUp(pair);
        for (int stop = 1; stop <= 5; stop++) {
            pair.a.completions.clear();
            post(pair, Work.WRITE);
            pair.run(30_000);
            pair.b.node.isStopped = true;
            pair.run(400 * MS);
            pair.b.node.isStopped = false;
            pair.settle();
            assertEightSucceeded(pair);
            assertThat(repeated(pair)).isLessThanOrEqualTo(stop * MOST_REPEATED);
        }
    }

    /** Each acknowledgement comes late, and a whole series of asking with it, unless the requester learns. */
    @ParameterizedTest
    @ValueSource(longs = {5 * MS, 40 * MS, 90 * MS})
    void delayThatJumpsIsLearntWithinAFewMessages(long latencyNs) throws Exception {
        Pair pair = new Pair(managed());
        warmUp(pair);
        pair.simulation.network.latencyNs = latencyNs;
        for (int id = 1; id <= 40; id++) {
            pair.b.receive(100 + id, 100);
            pair.a.send(id, 100);
            pair.settle();
        }
        assertThat(pair.a.completions).hasSize(40).allMatch(c -> c.isSuccess());
        assertThat(repeated(pair)).isLessThanOrEqualTo(2 * MOST_REPEATED);
    }

    @Test
    void lateAnswersToALongMessageLeaveTheWindowAsItWas() throws Exception {
        Pair pair = new Pair(managed());
        for (int i = 0; i < 8; i++) {
            warmUp(pair);
        }
        long quickNs = durationOfAMessage(pair);
        pair.a.write(1, MESSAGE);
        pair.run(10_000);
        pair.b.node.isStopped = true;
        pair.run(200 * MS);
        pair.b.node.isStopped = false;
        pair.settle();
        assertThat(durationOfAMessage(pair)).isEqualTo(quickNs);
    }

    private static long durationOfAMessage(Pair pair) throws RdmaException {
        long startNs = pair.simulation.network.nowNs();
        pair.a.completions.clear();
        pair.a.write(9, MESSAGE);
        for (int step = 0; step < 10_000 && pair.a.completions.isEmpty(); step++) {
            pair.simulation.step();
            pair.a.takeCompletions();
        }
        pair.a.assertCompleted("9 SUCCESS");
        return pair.simulation.network.nowNs() - startNs;
    }

    @Test
    void newQueuePairKnowsTheRoundTripOfItsPeer() throws Exception {
        Pair pair = new Pair(managed());
        pair.simulation.network.latencyNs = 5 * MS;
        warmUp(pair);
        Pair.Side sender = pair.new Side(pair.simulation.a);
        Pair.Side receiver = pair.new Side(pair.simulation.b);
        sender.connect(receiver, managed());
        receiver.connect(sender, managed());
        boolean[] isLost = {false};
        pair.simulation.network.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == Opcode.RC_SEND_ONLY;
            isLost[0] |= loses;
            return loses;
        });
        receiver.receive(7, 100);
        sender.send(1, 100);
        pair.run(100 * MS);
        sender.takeCompletions();
        sender.assertCompleted("1 SUCCESS");
    }

    @Test
    void stopUnderManyQueuePairsCostsEachFewPackets() throws Exception {
        int count = 8;
        Load load = new Load(count, 1000, Integer.MAX_VALUE);
        load.begin();
        load.pair.run(100_000);
        load.pair.b.node.isStopped = true;
        load.pair.run(1000 * MS);
        load.pair.b.node.isStopped = false;
        load.finish();
        assertThat(load.repeated()).as(load.toString()).isBetween(1L, count * MOST_REPEATED);
    }

    /** A receiver that takes its time for each packet, and forgets nothing, however many send to it. */
    @ParameterizedTest
    @CsvSource({"20, 4000", "20, 400000", "20, 1000000", "2, 10000000"})
    void manyQueuePairsToOneSlowReceiverRepeatLittle(int count, long linkNs) throws Exception {
        Load load = new Load(count, linkNs, Integer.MAX_VALUE);
        load.run();
        assertThat(load.repeated()).as(load.toString()).isLessThanOrEqualTo(load.needed() / 4);
    }

    @ParameterizedTest
    @CsvSource({"8, 10000, 64", "8, 100000, 64", "20, 10000, 100", "1, 10000, 20"})
    void bottleneckWithAShortQueueIsSharedWithoutAStorm(int count, long linkNs, int queue)
            throws Exception {
        Load load = new Load(count, linkNs, queue);
        load.run();
        assertThat(load.lost()).isPositive();
        assertThat(load.repeated()).as(load.toString()).isLessThanOrEqualTo(3 * load.needed());
    }

    /** Some queue pairs that send three messages each to one device, behind one link. */
    private static final class Load {
        private static final int MESSAGES = 3;
        private final Pair pair = new Pair(managed());
        private final List<Pair.Side> senders = new ArrayList<>();

        Load(int count, long linkNs, int queue) throws Exception {
            pair.simulation.network.linkNs = linkNs;
            pair.simulation.network.linkQueue = queue;
            for (int i = 0; i < count; i++) {
                CompletionQueue sends = pair.simulation.a.context.createCompletionQueue(16);
                CompletionQueue receives = pair.simulation.b.context.createCompletionQueue(16);
                Pair.Side sender = pair.new Side(pair.simulation.a, sends, managed());
                Pair.Side receiver = pair.new Side(pair.simulation.b, receives, managed());
                sender.connect(receiver, managed());
                receiver.connect(sender, managed());
                senders.add(sender);
                for (int id = 1; id <= MESSAGES; id++) {
                    receiver.receive(id, MESSAGE);
                }
            }
        }

        void run() throws RdmaException {
            begin();
            finish();
        }

        void begin() throws RdmaException {
            for (Pair.Side sender : senders) {
                for (int id = 1; id <= MESSAGES; id++) {
                    sender.send(id, MESSAGE);
                }
            }
        }

        void finish() throws RdmaException {
            pair.settle();
            for (Pair.Side sender : senders) {
                sender.takeCompletions();
                sender.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
            }
        }

        long needed() {
            return (long) senders.size() * MESSAGES * MESSAGE / 1024;
        }

        long repeated() throws RdmaException {
            long sum = 0;
            for (Pair.Side sender : senders) {
                sum += sender.queuePair.counter(Counter.RETRANSMITTED_PKTS);
            }
            return sum;
        }

        @Override
        public String toString() {
            return senders.size() + " queue pairs, " + needed() + " packets needed, " + lost()
                    + " lost";
        }

        int lost() {
            return pair.simulation.network.lostAtLink();
        }
    }
}
