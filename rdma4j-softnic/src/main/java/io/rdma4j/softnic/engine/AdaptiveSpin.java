package io.rdma4j.softnic.engine;

import java.util.function.LongSupplier;

/**
 * Whether who runs the engine looks once more before going to sleep. Packets of a stream follow each other closely, and
 * so do questions and answers: to be woken for each of them would take longer, and cost the sender's processor more, than
 * looking costs this one. So it looks longer where it was woken soon after it went to sleep, and shorter where it
 * slept for long. For one thread.
 */
final class AdaptiveSpin {
    /** How long to look for packets after the last: at most twice what a wake-up takes, there and back. */
    static final long LONGEST_NS = 100_000;
    static final long SHORTEST_NS = 12_500;

    private boolean hasReceived;
    private long lastNs;
    private long durationNs = LONGEST_NS / 2;
    private final Crowding crowding;

    /** Long after the last packet. */
    AdaptiveSpin(LongSupplier clock) {
        lastNs = clock.getAsLong() - LONGEST_NS;
        crowding = new Crowding(clock);
    }

    /** A round has run. */
    void onRound(boolean roundHasReceived, long nowNs) {
        hasReceived = roundHasReceived;
        if (roundHasReceived) {
            lastNs = nowNs;
        }
    }

    /** {@return whether to look again at once} Others may have had the processor meanwhile. */
    boolean goesOn(long nowNs) {
        if (hasReceived) {
            return true;
        }
        if (nowNs - lastNs >= durationNs || crowding.isCrowded(nowNs)) {
            return false;
        }
        crowding.giveWay(nowNs);
        return true;
    }

    /** A sleep has ended. */
    void onWoken(long nowNs) {
        durationNs = nowNs - lastNs < LONGEST_NS
                ? LONGEST_NS
                : Math.max(SHORTEST_NS, durationNs / 2);
    }

    /** {@return how long it looks at present} */
    long durationNs() {
        return durationNs;
    }
}
