// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random work of all kinds on several queue pairs over a network that loses, reorders, repeats and damages up
 * to a fifth of its packets, but each packet only a few times, so that no connection may give up: everything arrives exactly
 * once and in order, atomics are carried out exactly once, every request completes exactly once, no byte outside a region
 * changes.
 */
@Tag("simulation")
class RcSimulationTest {
    private static final long LIMIT_NS = 300_000_000_000L;
    /** Three of a request and three of its response leave two of eight tries. */
    private static final int MOST_LOSSES = 3;

    @Test
    void everythingArrivesOnceAndInOrderWhateverTheNetworkDoes() {
        long retransmitted = Seeds.run(Scenario::new);
        System.out.printf("%d seeds, %d packets sent again%n", Seeds.COUNT, retransmitted);
        assertThat(retransmitted).isGreaterThan(Seeds.COUNT);
    }

    /** The way changes between memory and the network at any packet; what is on the network comes later, or not at all. */
    @Test
    void everythingArrivesOnceAndInOrderWhileTheWayChanges() {
        Seeds.runWhileTheWayChanges(Scenario::new, "sent again");
    }

    private static final class Scenario implements Seeds.Scenario {
        private static final List<Mtu> MTUS = List.of(Mtu.values());
        private static final int MAX_PAIRS = 3;

        private final Random random;
        private final Simulation simulation;
        private final WorkloadNode a;
        private final WorkloadNode b;

        Scenario(long seed) throws Exception {
            random = new Random(seed);
            int region = 1 << (12 + random.nextInt(6));
            simulation = new Simulation(seed);
            simulation.network.mostLossesOfAPacket = MOST_LOSSES;
            double worst = random.nextDouble() * 0.2;
            simulation.network.loss = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.duplication = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.reordering = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.corruption = random.nextBoolean() ? random.nextDouble() * worst : 0;
            int pairs = 1 + random.nextInt(MAX_PAIRS);
            a = new WorkloadNode(simulation.a, random, region, pairs, random.nextBoolean());
            b = new WorkloadNode(simulation.b, random, region, pairs, random.nextBoolean());
            for (int i = 0; i < pairs; i++) {
                a.sides.get(i).peer = b.sides.get(i);
                b.sides.get(i).peer = a.sides.get(i);
                simulation.connect(a.sides.get(i).queuePair, b.sides.get(i).queuePair,
                        MTUS.get(random.nextInt(MTUS.size())), 7);
                a.sides.get(i).left = (10 + random.nextInt(60)) / pairs;
                b.sides.get(i).left = random.nextInt(60) / pairs;
            }
        }

        @Override
        public void meetInMemory() {
            Random switching = new Random(random.nextLong());
            double[] often = {0, 0.001, 0.02, 0.3};
            simulation.network.memory.meet(switching.nextLong(), often[switching.nextInt(4)],
                    switching.nextBoolean() ? 0 : 0.9 * switching.nextDouble());
            if (switching.nextBoolean()) {
                simulation.network.memory
                        .lend(switching.nextBoolean() ? 0 : 0.05 * switching.nextDouble());
            }
        }

        @Override
        public Simulation simulation() {
            return simulation;
        }

        @Override
        public long run() throws Exception {
            boolean isDone = simulation.run(() -> {
                try {
                    a.work();
                    b.work();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
                return a.isDone() && b.isDone();
            }, LIMIT_NS);
            assertThat(isDone).as("%s %s", a, b).isTrue();
            a.checkMemory();
            b.checkMemory();
            return a.retransmitted() + b.retransmitted();
        }
    }
}
