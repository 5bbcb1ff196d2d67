package io.rdma4j.tools.timing;

/** What a thread that polls does between two looks. */
public final class Looks {
    /** Spinning is fastest; but two that spin on one processor would starve each other. */
    private static final int SPINS = 100;

    private Looks() {}

    /**
     * Passes the time to the next look.
     *
     * @param inVain how often the thread has looked since there was something
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
