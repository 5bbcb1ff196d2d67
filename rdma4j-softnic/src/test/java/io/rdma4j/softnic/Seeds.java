// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** The seeds of this run of simulations, {@code rdma4j.test.simulation.seeds} from {@code .firstSeed} on, and what is done with each. */
final class Seeds {
    static final int COUNT = Integer.getInteger("rdma4j.test.simulation.seeds", 200);
    private static final long FIRST = Long.getLong("rdma4j.test.simulation.firstSeed", 0);

    private Seeds() {}

    /** What happens to two nodes, given by a seed. */
    interface Scenario {
        /** Some packets take memory from now on: always, or now and then. */
        void meetInMemory();

        /** Runs to the end and checks it. {@return how much of something there was} */
        long run() throws Exception;

        /** {@return where it takes place} */
        Simulation simulation();
    }

    /** Makes scenarios. */
    interface Maker {
        /** {@return that of a seed} */
        Scenario of(long seed) throws Exception;
    }

    /** Runs each seed. {@return the sum of what the runs returned} */
    static long run(Maker maker) {
        return run(maker, Scenario::run);
    }

    /**
     * Runs each seed with the way changing between memory and the network.
     *
     * @param what the runs return
     */
    static void runWhileTheWayChanges(Maker maker, String what) {
        long[] ways = new long[2];
        long sum = run(maker, scenario -> {
            scenario.meetInMemory();
            long result = scenario.run();
            ways[0] += scenario.simulation().network.memory.switches();
            ways[1] += scenario.simulation().network.memory.received();
            return result;
        });
        System.out.printf("%d seeds, %d switches of the way, %d packets through memory, %d %s%n",
                COUNT, ways[0], ways[1], sum, what);
        assertThat(ways[0]).isGreaterThan(COUNT);
        assertThat(ways[1]).isGreaterThan(COUNT);
    }

    private interface Run {
        long of(Scenario scenario) throws Exception;
    }

    private static long run(Maker maker, Run run) {
        return LongStream.range(FIRST, FIRST + COUNT).map(seed -> {
            try {
                Scenario scenario = maker.of(seed);
                long result = run.of(scenario);
                scenario.simulation().shutDown();
                return result;
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }).sum();
    }
}
