// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.function.LongSupplier;

/**
 * Yields the processor, and measures whether other threads work on it. Another poller yields it back within microseconds; a
 * thread that works keeps it for milliseconds, until the system preempts it. In that case sleeping is better than yielding:
 * a sleeping thread gets the processor when a packet arrives, a yielding one when the processor is free. Yielding is tried
 * again after a while, at growing intervals, until it has gone well for as long. For one thread, or for several if it need not be
 * exact. Why: ADR 46.
 */
final class ProcessorContention {
    /** A yield that takes longer was to a thread that works. */
    static final long LONG_NS = 1_000_000;
    static final long SHORTEST_TRUST_NS = 5_000_000;
    static final long LONGEST_TRUST_NS = 100_000_000;

    private final LongSupplier clock;
    private long trustNs = SHORTEST_TRUST_NS;
    private long untilNs;

    ProcessorContention(LongSupplier clock) {
        this.clock = clock;
        untilNs = clock.getAsLong();
    }

    /** Yields the processor. {@return when it came back} */
    @SuppressWarnings("ThreadPriorityCheck") // Only speed depends on it.
    long yieldProcessor(long nowNs) {
        Thread.yield();
        long backNs = clock.getAsLong();
        if (backNs - nowNs > LONG_NS) {
            untilNs = backNs + trustNs;
            trustNs = Math.min(2 * trustNs, LONGEST_TRUST_NS);
        } else if (backNs - untilNs > trustNs) {
            // Not at the first short one: the thread that works may be on another processor for a moment.
            trustNs = SHORTEST_TRUST_NS;
        }
        return backNs;
    }

    /** {@return whether to sleep rather than to give way} */
    boolean isContended(long nowNs) {
        return untilNs - nowNs > 0;
    }
}
