// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.util.Arrays;

/** The times of posting and completion of messages, to find the range with the highest rate. */
final class PeakTimes {
    private static final long NONE = Long.MIN_VALUE;

    private final long[] postedNs;
    private final long[] completedNs;

    /** Remembers that many messages; 0 to remember none. */
    PeakTimes(int messages) {
        postedNs = times(messages);
        completedNs = times(messages);
    }

    private static long[] times(int messages) {
        long[] times = new long[messages];
        Arrays.fill(times, NONE);
        return times;
    }

    void onPosted(long message) {
        if (message < postedNs.length) {
            postedNs[(int) message] = System.nanoTime();
        }
    }

    void onCompleted(long message) {
        if (message < completedNs.length) {
            completedNs[(int) message] = System.nanoTime();
        }
    }

    /** {@return the time of a message in the best stretch from the posting of one to the completion of another; 0 if none was remembered} */
    double shortestNs() {
        double shortest = Double.MAX_VALUE;
        for (int from = 0; from < postedNs.length; from++) {
            for (int to = from; postedNs[from] != NONE && to < completedNs.length; to++) {
                if (completedNs[to] != NONE) {
                    shortest = Math.min(shortest,
                            (double) (completedNs[to] - postedNs[from]) / (to - from + 1));
                }
            }
        }
        return shortest == Double.MAX_VALUE ? 0 : shortest;
    }
}
