package io.rdma4j.softnic.engine;

/**
 * Whether who runs the engine looks once more before going to sleep. Packets of a stream follow each other closely:
 * to be woken for each burst of them would cost the sender's processor more than looking costs this one. For one
 * thread.
 */
final class Linger {
    /** How long to look for packets after the last. */
    private static final long DURATION_NS = 50_000;

    private boolean hasReceived;
    private long lastNs;

    /** @param nowNs long after the last packet */
    Linger(long nowNs) {
        lastNs = nowNs - DURATION_NS;
    }

    /** A round has run. */
    void onRound(boolean roundHasReceived) {
        hasReceived = roundHasReceived;
    }

    /** {@return whether to look again at once} Others may have had the processor meanwhile. */
    @SuppressWarnings("ThreadPriorityCheck") // Nothing but speed depends on it.
    boolean goesOn(long nowNs) {
        if (hasReceived) {
            lastNs = nowNs;
            return true;
        }
        if (nowNs - lastNs >= DURATION_NS) {
            return false;
        }
        Thread.yield();
        return true;
    }
}
