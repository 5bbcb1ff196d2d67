// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import io.rdma4j.sockets.protocol.SimulatedPair.Side;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Two streams under seeds: every byte arrives once and in order, no message lacks a receive, and nothing stalls. */
class StreamModelTest {
    private static final int SEEDS = Integer.getInteger("rdma4j.test.simulation.seeds", 200);
    private static final int STEPS = 400;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsWrittenIsRead(boolean hasImmediates) throws RsocketException {
        for (int seed = 0; seed < SEEDS; seed++) {
            try {
                run(new Random(seed), hasImmediates);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    private static void run(Random random, boolean hasImmediates) throws RsocketException {
        SimulatedPair pair = new SimulatedPair(SimulatedPair.settings(random, hasImmediates),
                SimulatedPair.settings(random, hasImmediates));
        // How eager each is, so that buffers run full and empty.
        int[] weights = {1 + random.nextInt(8), 1 + random.nextInt(8), 1 + random.nextInt(8),
            1 + random.nextInt(8)};
        int largest = 1 << random.nextInt(18);
        for (Side side : new Side[]{pair.first, pair.second}) {
            side.whileCopying = () -> otherThread(side, random);
        }
        for (int step = 0; step < STEPS; step++) {
            step(random.nextBoolean() ? pair.first : pair.second, random, weights, largest);
        }
        pair.settle(true);
        // Afterwards both can still send as much as they like.
        for (Side side : new Side[]{pair.first, pair.second}) {
            long target = side.bytesWritten + 300_000;
            while (side.bytesWritten < target) {
                assertThat(side.write(10_000)).as("stalled, %s", side.stream).isPositive();
                pair.settle(true);
            }
        }
        assertThat(pair.second.bytesRead).isEqualTo(pair.first.bytesWritten);
        assertThat(pair.first.bytesRead).isEqualTo(pair.second.bytesWritten);
        assertThat(pair.first.stream.isDrained()).isTrue();
        assertAgree(pair.first.stream.figures(), pair.second.stream.figures());
        assertAgree(pair.second.stream.figures(), pair.first.stream.figures());
        end(pair, random);
    }

    /** The one that handles what completes, while another one writes; and one that maps. */
    private static void otherThread(Side side, Random random) {
        if (random.nextInt(4) > 0) {
            return;
        }
        if (random.nextInt(4) == 0) {
            side.map(step(random));
        }
        try {
            side.deliver();
            side.process();
        } catch (RsocketException e) {
            throw new AssertionError(e);
        }
    }

    /** When nothing is on its way, both sides show the same of a direction. */
    private static void assertAgree(StreamFigures from, StreamFigures to) {
        assertThat(from.sendCredits()).isEqualTo(to.receiveCredits());
        assertThat(from.sendRoom()).isEqualTo(to.receiveRoom());
        assertThat(from.sentBytes()).isEqualTo(to.receivedBytes()).isGreaterThan(300_000);
        assertThat(from.unacknowledged()).isZero();
        assertThat(to.readable()).isZero();
    }

    private static void step(Side side, Random random, int[] weights, int largest)
            throws RsocketException {
        int choice = random.nextInt(weights[0] + weights[1] + weights[2] + weights[3] + 1);
        if ((choice -= weights[0]) < 0) {
            side.write(1 + random.nextInt(largest));
        } else if ((choice -= weights[1]) < 0) {
            side.read(1 + random.nextInt(largest));
        } else if ((choice -= weights[2]) < 0) {
            side.deliver();
        } else if ((choice - weights[3]) < 0) {
            side.process();
        } else if (random.nextInt(4) == 0) {
            side.enlargeInput(4096 << random.nextInt(6));
            side.enlargeOutput(4096 << random.nextInt(6));
        } else {
            side.map(step(random));
            side.writeMapped(step(random), new byte[]{1});
        }
    }

    private static long step(Random random) {
        return random.nextInt(4) * 4096L;
    }

    /** However they end, what was written before is read, and both know in the end. */
    private static void end(SimulatedPair pair, Random random) throws RsocketException {
        for (int i = 0; i < 6; i++) {
            Side side = random.nextBoolean() ? pair.first : pair.second;
            switch (random.nextInt(4)) {
                case 0 -> side.stream.shutdownOutput();
                case 1 -> side.write(random.nextInt(3000) + 1);
                case 2 -> side.process();
                default -> side.deliver();
            }
            side.transmit();
        }
        pair.settle(true);
        assertThat(pair.second.bytesRead).isEqualTo(pair.first.bytesWritten);
        assertThat(pair.first.bytesRead).isEqualTo(pair.second.bytesWritten);
        assertThat(pair.second.stream.isInputEnded())
                .isEqualTo(pair.first.stream.isOutputEnded());
        assertThat(pair.first.stream.isInputEnded())
                .isEqualTo(pair.second.stream.isOutputEnded());
        pair.first.stream.disconnect();
        pair.first.transmit();
        pair.settle(true);
        for (Side side : new Side[]{pair.first, pair.second}) {
            assertThat(side.stream.isDisconnected()).isTrue();
            assertThat(side.stream.isDrained()).isTrue();
            assertThat(side.stream.wasReset()).isFalse();
        }
    }
}
