// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides how long a virtual thread drives the engine before it parks. It may not sleep in the network, so it only looks for an
 * answer that is on its way: longer while that helps, shorter while it does not, and only now and then where answers take
 * longer. For the thread that drives, and those that ask whether they may; it need not be exact.
 */
final class BriefDrives {
    static final long LONGEST_NS = 100_000;
    static final long SHORTEST_NS = 12_500;
    private static final long MOST_HELPFUL_NS = 1_000_000;
    /** Each makes the JVM wake another carrier. */
    static final long BETWEEN_YIELDS_NS = 5_000;
    /** Where it does not help, it is tried again once in so many waits. */
    static final int WAITS_PER_TRIAL = 32;

    private long durationNs = LONGEST_NS / 2;
    private int waits;

    /** A thread begins to wait. {@return whether it shall drive} */
    boolean isPromising() {
        return durationNs >= SHORTEST_NS || ++waits % WAITS_PER_TRIAL == 0;
    }

    /** {@return how long it shall drive} */
    long durationNs() {
        return Math.max(SHORTEST_NS, durationNs);
    }

    /**
     * A drive has ended.
     *
     * @param isDone whether what the thread waited for has come
     * @param tookNs how long it was: if much longer than it should be, the thread waited for a carrier, and others did the work
     */
    void onEnd(boolean isDone, long tookNs) {
        durationNs = isDone && tookNs < MOST_HELPFUL_NS ? LONGEST_NS : durationNs / 2;
    }
}
