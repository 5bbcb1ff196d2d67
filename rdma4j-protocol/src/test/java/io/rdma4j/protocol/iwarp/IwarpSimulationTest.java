// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.iwarp.StreamEnd.Completion;
import io.rdma4j.protocol.iwarp.StreamPair.Settings;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Work of every kind at random in both directions, over a stream that is cut into other pieces and has little room; some streams
 * break, or carry a byte that is wrong. Every request ends once and in order, and what succeeded has arrived.
 */
@Tag("simulation")
class IwarpSimulationTest {
    private static final int SEEDS = Integer.getInteger("rdma4j.test.simulation.seeds", 200);
    private static final long FIRST_SEED = Long.getLong("rdma4j.test.simulation.firstSeed", 0);
    private static final int REQUESTS = 40;
    /** Each message arrives in a place of its own: SENDs, then READs, then WRITEs. */
    private static final int SLOT = StreamEnd.UPPER / (3 * REQUESTS);
    private static final int READS_FROM = REQUESTS;
    private static final int WRITES_FROM = 2 * REQUESTS;

    /** What the runs have met, so that none is green for want of cases. */
    private int succeeded;
    private int flushed;
    private int ended;

    /** How a stream ends that does not do so in order. */
    private enum Mishap {
        NONE, CUT, DAMAGE, ERROR
    }

    private static final List<Mishap> MISHAPS = List.of(Mishap.CUT, Mishap.DAMAGE, Mishap.ERROR);

    // [RFC 5040 5.2.2-2] [RFC 5040 5.3-2] [RFC 5040 5.5-3] [RFC 5041 4.2-1] [RFC 5041 5.3-1]
    // [RFC 5044 5.1-1]
    @Test
    void everyRequestEndsOnceAndWhatSucceededHasArrived() {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try {
                new Run(seed).run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(succeeded).isGreaterThan(20 * SEEDS);
        assertThat(flushed).isGreaterThan(SEEDS);
        assertThat(ended).isGreaterThan(SEEDS / 4);
    }

    /** What one side has posted. */
    private static final class Posted {
        final List<SendWorkRequest> requests = new ArrayList<>();
        final List<SendWorkRequest> sends = new ArrayList<>();
    }

    private final class Run {
        private final Random random;
        private final StreamPair pair;
        private final Posted byInitiator = new Posted();
        private final Posted byResponder = new Posted();
        private final Mishap mishap;

        Run(long seed) {
            random = new Random(seed);
            Settings settings = new Settings();
            settings.seed = seed;
            settings.room = 1 + random.nextInt(1 << random.nextInt(15));
            settings.longestUnit = 64 + 4 * random.nextInt(1 << random.nextInt(14));
            settings.hasCrc = random.nextBoolean();
            settings.reads = 1 + random.nextInt(5);
            settings.first = any(List.of(ReadyToReceive.values()));
            boolean isOrderly = random.nextInt(3) > 0;
            Mishap drawn = any(MISHAPS);
            mishap = isOrderly || (drawn == Mishap.DAMAGE && !settings.hasCrc)
                    ? Mishap.NONE
                    : drawn;
            pair = new StreamPair(settings);
        }

        private <T> T any(List<T> things) {
            return things.get(random.nextInt(things.size()));
        }

        void run() {
            for (int i = 0; i < REQUESTS; i++) {
                receive(pair.initiator, i);
                receive(pair.responder, i);
            }
            int mishapAt = random.nextInt(REQUESTS);
            for (int i = 0; i < REQUESTS; i++) {
                post(pair.initiator, pair.responder, byInitiator, i);
                post(pair.responder, pair.initiator, byResponder, i);
                for (int steps = random.nextInt(30); steps > 0; steps--) {
                    StreamEnd end = random.nextBoolean() ? pair.initiator : pair.responder;
                    end.work(pair.nowNs);
                }
                if (i == mishapAt) {
                    mishap();
                }
            }
            pair.settle();
            if (mishap == Mishap.DAMAGE) {
                // A length that is wrong may name more bytes than ever come.
                cut();
                pair.settle();
            }
            check(pair.initiator, pair.responder, byInitiator, byResponder);
            check(pair.responder, pair.initiator, byResponder, byInitiator);
            if (mishap == Mishap.NONE) {
                pair.initiator.queuePair.disconnect();
                pair.settle();
            }
            assertThat(pair.responder.queuePair.state()).isEqualTo(QueuePairState.ERR);
            ended += mishap == Mishap.NONE ? 0 : 1;
        }

        private static void receive(StreamEnd end, int index) {
            end.post(new ReceiveWorkRequest().id(1000 + index).add(end.address + slot(index), SLOT,
                    end.key));
        }

        private static long slot(int index) {
            return StreamEnd.UPPER + index * (long) SLOT;
        }

        private void mishap() {
            switch (mishap) {
                case NONE -> {
                    // All goes well.
                }
                case CUT -> cut();
                case DAMAGE -> pair.initiator.out.damageNext();
                case ERROR -> pair.initiator.queuePair.modify(
                        new QueuePairAttributes().state(QueuePairState.ERR), QueuePairState.ERR, 0);
            }
        }

        private void cut() {
            pair.initiator.out.cut();
            pair.responder.out.cut();
        }

        private void post(StreamEnd from, StreamEnd to, Posted posted, int index) {
            int length = random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(SLOT + 1);
            int source = random.nextInt(StreamEnd.UPPER - SLOT);
            SendWorkRequest request = StreamEnd.request(index);
            switch (random.nextInt(4)) {
                case 0 -> request.write(to.address + slot(WRITES_FROM + index), to.key)
                        .add(from.address + source, length, from.key);
                case 1 -> {
                    int half = random.nextInt(length + 1);
                    long into = from.address + slot(READS_FROM + index);
                    request.read(to.address + source, to.key).add(into, half, from.key)
                            .add(into + half, length - half, from.key);
                }
                default -> {
                    request.send().add(from.address + source, length, from.key)
                            .set(SendFlag.SOLICITED, random.nextBoolean());
                    posted.sends.add(request);
                }
            }
            request.set(SendFlag.FENCE, random.nextInt(8) == 0);
            posted.requests.add(request);
            from.post(request);
        }

        /** Looks at what has become of the work of one side, and at what arrived there. */
        private void check(StreamEnd end, StreamEnd peer, Posted posted, Posted byPeer) {
            List<Completion> sends = end.completions.stream().filter(c -> c.id() < 1000).toList();
            List<Completion> receives = end.completions.stream().filter(c -> c.id() >= 1000)
                    .toList();
            boolean hasFailed = false;
            for (int i = 0; i < sends.size(); i++) {
                assertThat(sends.get(i).id()).isEqualTo(i);
                boolean isSuccess = sends.get(i).status() == WorkCompletionStatus.SUCCESS;
                assertThat(isSuccess && hasFailed).isFalse();
                hasFailed |= !isSuccess;
                if (isSuccess) {
                    succeeded++;
                    checkArrived(posted.requests.get(i), sends.get(i), end, peer);
                } else {
                    flushed++;
                }
            }
            for (int i = 0; i < receives.size(); i++) {
                assertThat(receives.get(i).id()).isEqualTo(1000 + i);
                if (receives.get(i).status() == WorkCompletionStatus.SUCCESS) {
                    SendWorkRequest sent = byPeer.sends.get(i);
                    long length = sent.elements().totalLength();
                    assertThat(receives.get(i).byteLength()).isEqualTo(length);
                    assertThat(receives.get(i).isSolicited())
                            .isEqualTo(sent.has(SendFlag.SOLICITED));
                    assertSame(end, slot(i), peer,
                            sent.elements().address(0) - peer.address, length);
                }
            }
            assertThat(sends).hasSize(REQUESTS);
            if (mishap == Mishap.NONE) {
                assertThat(hasFailed).isFalse();
                assertThat(receives).hasSize(byPeer.sends.size());
            } else {
                assertThat(receives).hasSize(REQUESTS);
            }
        }

        private void checkArrived(SendWorkRequest request, Completion completion, StreamEnd end,
                StreamEnd peer) {
            long length = request.elements().totalLength();
            long own = request.elements().address(0) - end.address;
            long others = request.remoteAddress() - peer.address;
            if (completion.opcode() == WorkCompletionOpcode.RDMA_READ) {
                assertThat(completion.byteLength()).isEqualTo(length);
                assertSame(end, own, peer, others, length);
            } else if (completion.opcode() == WorkCompletionOpcode.RDMA_WRITE
                    && mishap == Mishap.NONE) {
                assertSame(peer, others, end, own, length);
            }
        }

        private void assertSame(StreamEnd one, long at, StreamEnd other, long from, long length) {
            assertThat(MemorySegment.mismatch(one.memory, at, at + length, other.memory, from,
                    from + length)).isEqualTo(-1);
        }
    }
}
