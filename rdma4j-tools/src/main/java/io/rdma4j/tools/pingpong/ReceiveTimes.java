// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import java.io.PrintWriter;
import java.util.Locale;

/** How far apart receives complete, by the device's clock. */
final class ReceiveTimes {
    private final long mask;
    private long previous;
    private boolean hasPrevious;
    private long longest;
    private long shortest = Long.MAX_VALUE;
    private long total;
    private long count;

    /** @param mask the bits of a timestamp that count */
    ReceiveTimes(long mask) {
        this.mask = mask;
    }

    void onReceive(long timestamp) {
        if (hasPrevious) {
            // Right also when the clock has wrapped around between the two.
            long delta = (timestamp - previous) & mask;
            longest = Math.max(longest, delta);
            shortest = Math.min(shortest, delta);
            total += delta;
            count++;
        }
        previous = timestamp;
        hasPrevious = true;
    }

    void print(PrintWriter out) {
        if (count == 0) {
            return;
        }
        out.printf(Locale.ROOT, "Max receive completion clock cycles = %d%n", longest);
        out.printf(Locale.ROOT, "Min receive completion clock cycles = %d%n", shortest);
        out.printf(Locale.ROOT, "Average receive completion clock cycles = %f%n",
                (double) total / count);
    }
}
