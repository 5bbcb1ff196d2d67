package io.rdma4j.softnic.engine;

/**
 * Whether others work on the processor of who gives way. Another poller comes back within microseconds; somebody who works keeps
 * the processor until the system takes it away, for milliseconds. Then sleeping is better than giving way: who sleeps gets the
 * processor when a packet arrives, who gives way when it is free. It is tried again after a while, ever more rarely. For one
 * thread, or for several if it need not be exact.
 */
final class Crowding {
    /** Who gives way for longer does so to somebody who works. */
    static final long LONG_NS = 1_000_000;
    static final long SHORTEST_TRUST_NS = 5_000_000;
    static final long LONGEST_TRUST_NS = 500_000_000;

    private long trustNs = SHORTEST_TRUST_NS;
    private long untilNs;

    Crowding(long nowNs) {
        untilNs = nowNs;
    }

    /** A thread has given way, and is back. */
    void onBack(long leftNs, long nowNs) {
        if (nowNs - leftNs > LONG_NS) {
            untilNs = nowNs + trustNs;
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
