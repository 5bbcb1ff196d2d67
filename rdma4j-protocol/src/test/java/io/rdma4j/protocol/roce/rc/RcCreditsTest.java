// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Work of every kind at random, receives that are posted at random, a wire that loses and reorders: no end sends what the
 * {@link CreditModel} does not allow.
 */
@Tag("simulation")
class RcCreditsTest {
    private static final int SEEDS = Integer.getInteger("rdma4j.test.simulation.seeds", 200);
    private static final long FIRST_SEED = Long.getLong("rdma4j.test.simulation.firstSeed", 0);

    /** What the runs have met, so that none is green for want of cases. */
    private long notReady;
    private long sentAgain;
    private long withoutCredit;
    private long moreRequestsThanReads;

    // [IBTA 9.7.7-1]
    @Test
    void noMoreMessagesAreSentThanReceivesWereOffered() {
        forEachSeed(false);
        assertThat(notReady).isGreaterThan(SEEDS);
        assertThat(withoutCredit).isGreaterThan(SEEDS);
        assertThat(sentAgain).isGreaterThan(SEEDS);
        assertThat(moreRequestsThanReads).isGreaterThan(SEEDS);
    }

    /** No retry is allowed to who finds no receive. */
    // [IBTA 9.7.7-2]
    @Test
    void receiverThatAlwaysHasReceivesIsNeverFoundNotReady() {
        forEachSeed(true);
        assertThat(notReady).isZero();
        assertThat(withoutCredit).isGreaterThan(SEEDS);
        assertThat(sentAgain).isGreaterThan(SEEDS);
    }

    private void forEachSeed(boolean alwaysHasReceives) {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            Run run = new Run(seed, alwaysHasReceives);
            try {
                run.run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + " behind\n"
                        + run.pair.wire.endOfTrace(), e);
            }
            notReady += run.pair.b.counted(Counter.SEND_RNR_ERR);
            sentAgain += run.pair.a.counted(Counter.RETRANSMITTED_PKTS);
            withoutCredit += run.model.packetsWithoutCredit;
            moreRequestsThanReads += run.model.readRequests - run.reads;
        }
    }

    private static final class Run {
        private static final int REQUESTS = 60;
        private static final int MOST_OUTSTANDING = 16;
        private static final int LONGEST = 9000;
        private static final int LONGEST_READ = 30_000;
        private static final List<SendOpcode> OPCODES = List.of(SendOpcode.SEND, SendOpcode.SEND,
                SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.SEND_WITH_INVALIDATE,
                SendOpcode.RDMA_WRITE, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, SendOpcode.RDMA_READ,
                SendOpcode.ATOMIC_FETCH_AND_ADD, SendOpcode.ATOMIC_COMPARE_AND_SWAP,
                SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE, SendOpcode.LOCAL_INVALIDATE,
                SendOpcode.BIND_MEMORY_WINDOW);

        private final Random random;
        private final RcPair pair;
        private final CreditModel model;
        /** So many receives are there at any time; 0 for as it happens. */
        private final int kept;
        private int sent;
        private int reads;

        Run(long seed, boolean alwaysHasReceives) {
            random = new Random(seed);
            RcPair.Settings settings = new RcPair.Settings();
            settings.firstPsn = 0xffffff - random.nextInt(200);
            settings.mtu = random.nextBoolean() ? Mtu.MTU_256 : Mtu.MTU_1024;
            settings.readAtomic = 1 + random.nextInt(4);
            settings.minRnrTimer = 1 + random.nextInt(8);
            settings.rnrRetry = alwaysHasReceives ? 0 : 7;
            kept = alwaysHasReceives ? 1 + random.nextInt(6) : 0;
            pair = new RcPair(settings);
            model = new CreditModel(pair);
            pair.wire.watch(new Wire.Watcher() {
                @Override
                public void onCompleted(RcEnd by, SendRequest request) {
                    model.onCompleted(by, request);
                }

                @Override
                public void onSent(RcEnd from, PacketView packet) {
                    model.onSent(from, packet);
                }

                @Override
                public void onReceived(RcEnd to, PacketView packet) {
                    model.onReceived(to, packet);
                    keepReceives();
                }
            });
        }

        private void keepReceives() {
            while (pair.b.receives.available() < kept) {
                postReceive();
            }
        }

        private void postReceive() {
            model.onReceivePosted();
            pair.b.receive(0, RcEnd.UPPER);
        }

        void run() {
            getAcquainted();
            double loss = random.nextInt(3) * 0.04;
            pair.wire.loseIf(packet -> random.nextDouble() < loss);
            pair.wire.delayIf(15_000, packet -> random.nextDouble() < loss);
            while (sent < REQUESTS) {
                switch (random.nextInt(4)) {
                    case 0, 1 -> postSome();
                    case 2 -> postReceives(kept > 0 ? 0 : random.nextInt(4));
                    default -> pair.run(random.nextInt(150_000));
                }
            }
            postReceives(kept > 0 ? 0 : REQUESTS);
            pair.settle();
            assertThat(pair.a.completions).hasSize(REQUESTS)
                    .allMatch(RcEnd.Completion::isSuccess);
        }

        /** What a sender may do is not known before the first acknowledgement. */
        private void getAcquainted() {
            postReceive();
            keepReceives();
            post(SendOpcode.SEND);
            pair.settle();
        }

        private void postReceives(int count) {
            for (int i = 0; i < count; i++) {
                postReceive();
            }
        }

        private void postSome() {
            for (int i = random.nextInt(5); i >= 0 && sent < REQUESTS
                    && sent - pair.a.completions.size() < MOST_OUTSTANDING; i--) {
                post(OPCODES.get(random.nextInt(OPCODES.size())));
            }
        }

        private void post(SendOpcode opcode) {
            SendWorkRequest request = pair.a.request(sent++).opcode(opcode)
                    .remote(pair.b.address, pair.b.key);
            long length = length(opcode);
            switch (opcode) {
                case FLUSH -> request.flush(pair.b.address, pair.b.key, 100,
                        Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
                case SEND_WITH_INVALIDATE -> {
                    pair.b.regions.windowKeys.add(sent);
                    request.invalidateRkey(sent);
                }
                case RDMA_READ -> reads++;
                case LOCAL_INVALIDATE, BIND_MEMORY_WINDOW, SEND, SEND_WITH_IMMEDIATE, RDMA_WRITE,
                        RDMA_WRITE_WITH_IMMEDIATE, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD,
                        ATOMIC_WRITE -> {
                    // Nothing more.
                }
            }
            if (length > 0) {
                request.add(pair.a.address, length, pair.a.key);
            }
            model.onPosted(opcode, length);
            pair.a.post(request);
        }

        private int length(SendOpcode opcode) {
            return switch (opcode) {
                case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> Long.BYTES;
                case LOCAL_INVALIDATE, BIND_MEMORY_WINDOW, FLUSH -> 0;
                case RDMA_READ -> random.nextInt(LONGEST_READ);
                case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                        RDMA_WRITE_WITH_IMMEDIATE ->
                    random.nextInt(random.nextBoolean() ? 200 : LONGEST);
            };
        }
    }
}
