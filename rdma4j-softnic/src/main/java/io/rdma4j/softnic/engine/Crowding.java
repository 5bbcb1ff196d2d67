package io.rdma4j.softnic.engine;

import java.util.function.LongSupplier;

/**
 * Gives way to others, and notices whether they work on this processor. Another poller comes back within microseconds; somebody
 * who works keeps the processor until the system takes it away, for milliseconds. Then sleeping is better than giving way: who
 * sleeps gets the processor when a packet arrives, who gives way when it is free. It is tried again after a while, ever more
 * rarely. For one thread, or for several if it need not be exact. Why: ADR 46.
 */
final class Crowding {
    /** Who gives way for longer does so to somebody who works. */
    static final long LONG_NS = 1_000_000;
    static final long SHORTEST_TRUST_NS = 5_000_000;
    static final long LONGEST_TRUST_NS = 500_000_000;

    private final LongSupplier clock;
    private long trustNs = SHORTEST_TRUST_NS;
    private long untilNs;

    Crowding(LongSupplier clock) {
        this.clock = clock;
        untilNs = clock.getAsLong();
    }

    /** Lets others use the processor. */
    @SuppressWarnings("ThreadPriorityCheck") // Nothing but speed depends on it.
    void giveWay(long nowNs) {
        Thread.yield();
        long backNs = clock.getAsLong();
        if (backNs - nowNs > LONG_NS) {
            untilNs = backNs + trustNs;
            trustNs = Math.min(2 * trustNs, LONGEST_TRUST_NS);
        } else {
            trustNs = SHORTEST_TRUST_NS;
        }
    }

    /** {@return whether to sleep rather than to give way} */
    boolean isCrowded(long nowNs) {
        return untilNs - nowNs > 0;
    }
}
