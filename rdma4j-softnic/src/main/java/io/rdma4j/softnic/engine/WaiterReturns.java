// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides whether a waiter that leaves work behind is expected back for it. One that reads a stream, or answers requests, comes back before another thread
 * could be woken, and that thread would take packets, lock and processor from it. Who works for longer leaves the work to the
 * background thread. Where waiters did not come back in time, it is tried again once in so many times: they also come late because the
 * background thread has done what they would have come for. For the thread that has the place of {@link EngineWaiters}.
 */
final class WaiterReturns {
    /** Some times what it takes to wake a thread, and to read a burst of packets. */
    static final long SOON_NS = 250_000;
    static final int LEAVES_PER_TRIAL = 64;

    private boolean areSoon = true;
    private boolean isAway;
    private long leftNs;
    private int leaves;

    /** A waiter leaves work behind. {@return whether it, or another one, is expected soon} */
    boolean isExpected(long nowNs) {
        isAway = true;
        leftNs = nowNs;
        return areSoon || ++leaves % LEAVES_PER_TRIAL == 0;
    }

    /** A waiter comes. */
    void onReturn(long nowNs) {
        if (isAway) {
            isAway = false;
            areSoon = nowNs - leftNs < SOON_NS;
        }
    }
}
