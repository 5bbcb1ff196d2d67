// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.timing;

/** What a thread that polls does between two polls. For any thread. */
public final class Backoff {
    /** Spinning is fastest; but two that spin on one processor would starve each other. */
    private static final int SPINS = 100;

    private Backoff() {}

    /**
     * Spins at first, later yields the processor.
     *
     * @param inVain how often the thread has polled since there was something
     */
    @SuppressWarnings("ThreadPriorityCheck") // The peer may need this processor.
    public static void pause(int inVain) {
        if (inVain < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }
}
