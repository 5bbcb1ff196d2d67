// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import java.util.ArrayList;
import java.util.List;

/**
 * The work, equal on both sides.
 *
 * @param sizeBytes bytes of a message
 * @param queuePairs connections that are used at the same time
 * @param depth messages under way on each
 * @param list messages handed over by one call; the last of them is signaled
 * @param isPolling whether who waits polls, instead of sleeping until an event
 * @param warmUpSeconds how long it runs before it counts
 * @param seconds how long it counts
 * @param countFromMs when it begins to count, {@link System#currentTimeMillis}, so that several that run at the same time count
 *        the same time; 0 as soon as it is warm
 */
public record Settings(int sizeBytes, int queuePairs, int depth, int list, boolean isPolling,
        double warmUpSeconds, double seconds, long countFromMs) {

    /** One connection, polling. */
    public static Settings of(int sizeBytes, double warmUpSeconds, double seconds) {
        return new Settings(sizeBytes, 1, 16, 1, true, warmUpSeconds, seconds, 0);
    }

    /** {@return the same with another number of connections} */
    public Settings withQueuePairs(int count) {
        return new Settings(sizeBytes, count, depth, list, isPolling, warmUpSeconds, seconds,
                countFromMs);
    }

    /** {@return the same with more under way, handed over in lists} */
    public Settings withDepth(int messages, int each) {
        return new Settings(sizeBytes, queuePairs, messages, each, isPolling, warmUpSeconds,
                seconds, countFromMs);
    }

    /** {@return the same with sides that sleep until an event} */
    public Settings withEvents() {
        return new Settings(sizeBytes, queuePairs, depth, list, false, warmUpSeconds, seconds,
                countFromMs);
    }

    /** {@return the same that begins to count at a time} */
    public Settings withCountFrom(long epochMs) {
        return new Settings(sizeBytes, queuePairs, depth, list, isPolling, warmUpSeconds, seconds,
                epochMs);
    }

    /** {@return the options of the command {@code side} that say the same} */
    public List<String> options() {
        List<String> options = new ArrayList<>(List.of("--size=" + sizeBytes,
                "--queue-pairs=" + queuePairs, "--depth=" + depth, "--list=" + list,
                "--warm-up=" + warmUpSeconds, "--seconds=" + seconds,
                "--count-from=" + countFromMs));
        if (!isPolling) {
            options.add("--events");
        }
        return options;
    }
}
