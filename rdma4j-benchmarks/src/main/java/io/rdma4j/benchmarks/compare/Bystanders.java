// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What else keeps the processors busy, looked at before each trial, when nothing of ours runs. Who polls is hurt by it
 * more than who sleeps, so ratios of a busy machine mean nothing.
 */
final class Bystanders {
    private static final long LOOK_MS = 100;
    /** How busy others may keep the machine. */
    private static final double BEARABLE = 0.05;
    /** Fields of the first line of /proc/stat: the time spent idle, and that spent waiting for disks. */
    private static final int IDLE = 4;
    private static final int WAITING = 5;

    private final List<Double> shares = new ArrayList<>();

    /** Looks for a moment. */
    void look() throws InterruptedException {
        long[] before = times();
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
        long[] after = times();
        long all = after[0] - before[0];
        if (all > 0) {
            shares.add(1 - (double) (after[1] - before[1]) / all);
        }
    }

    /** {@return all time so far and the idle time of it} */
    private static long[] times() {
        String line = Machine.text("/proc/stat").lines().findFirst().orElse("");
        String[] words = line.split(" +", -1);
        long all = 0;
        long idle = 0;
        for (int i = 1; i < words.length; i++) {
            long ticks = Long.parseLong(words[i]);
            all += ticks;
            idle += i == IDLE || i == WAITING ? ticks : 0;
        }
        return new long[]{all, idle};
    }

    /** {@return how busy the processors were, the median of all looks, if there were any} */
    Optional<Double> share() {
        return shares.isEmpty() ? Optional.empty() : Optional.of(new Samples(shares).median());
    }

    /** {@return why the ratios mean nothing, if they do not} */
    Optional<String> objection() {
        return share().filter(share -> share > BEARABLE)
                .map(share -> String.format(Locale.ROOT,
                        "**Not a run to judge by:** other processes kept the processors %.0f %% busy "
                                + "before the trials began, and at most %.0f %% is bearable.",
                        100 * share, 100 * BEARABLE));
    }
}
