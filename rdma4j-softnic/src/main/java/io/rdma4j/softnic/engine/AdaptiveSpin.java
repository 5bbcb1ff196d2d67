// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.function.LongSupplier;

/**
 * Decides whether the thread that runs the engine polls once more before it sleeps. The packets of a stream, and requests
 * and responses, follow each other closely: a wake-up for each takes longer, and costs the sender's processor more, than
 * polling costs this one. So the thread polls longer if its last sleep was short, and shorter if it was long. While the JVM
 * interprets, a wake-up takes longer, too: its share of code is as slow as a round, so the limit grows with the time of a round. For
 * one thread.
 */
final class AdaptiveSpin {
    /** The longest time to poll after the last packet, with compiled code: twice what a wake-up takes, there and back. */
    static final long LONGEST_NS = 100_000;
    static final long SHORTEST_NS = 12_500;
    /** While a round takes longer than is usual for compiled code, the longest time is this many rounds. */
    static final int ROUNDS = 40;
    /** Whatever a round takes. */
    static final long LIMIT_NS = 1_000_000;

    private boolean hasReceived;
    private boolean isWoken = true;
    private long roundStartNs;
    /** What a round takes that receives nothing. Others may interrupt one round, but not all: nearly the shortest of the last. */
    private long roundNs;
    private long lastNs;
    private long durationNs = LONGEST_NS / 2;
    /** When others had run the engine last, at the end of this thread's last round. */
    private long trafficNs;
    private final ProcessorContention contention;

    /** Long after the last packet. */
    AdaptiveSpin(LongSupplier clock, ProcessorContention contention) {
        lastNs = clock.getAsLong() - LONGEST_NS;
        this.contention = contention;
    }

    /** A round has run. */
    void onRound(boolean roundHasReceived, long nowNs) {
        hasReceived = roundHasReceived;
        isWoken = false;
        roundStartNs = nowNs;
        if (roundHasReceived) {
            lastNs = nowNs;
        }
    }

    /** The round ends, still as the owner. @param lastTrafficNs when others have run the engine last */
    void onServed(long lastTrafficNs) {
        trafficNs = lastTrafficNs;
    }

    /** {@return when others had run the engine last, at the end of the last round} */
    long trafficNs() {
        return trafficNs;
    }

    /**
     * {@return whether the thread has slept since the last round} What has woken it may be anywhere. Otherwise a round need not look
     * at what takes long each time: if that has something, the thread does not sleep.
     */
    boolean isWoken() {
        return isWoken;
    }

    /** {@return whether the last round has received anything} */
    boolean hasReceived() {
        return hasReceived;
    }

    /** The round has ended. {@return whether to poll again at once} Other threads may have used the processor meanwhile. */
    boolean goesOn(long nowNs) {
        if (hasReceived) {
            return true;
        }
        long tookNs = nowNs - roundStartNs;
        roundNs = roundNs == 0 ? tookNs : Math.min(tookNs, roundNs + roundNs / 16 + 1);
        if (nowNs - lastNs >= durationNs || contention.isContended(nowNs)) {
            return false;
        }
        contention.yieldProcessor(nowNs);
        return true;
    }

    /** A sleep has ended. */
    void onWoken(long nowNs) {
        isWoken = true;
        long longestNs = Math.clamp(ROUNDS * roundNs, LONGEST_NS, LIMIT_NS);
        durationNs = nowNs - lastNs < longestNs
                ? longestNs
                : Math.max(SHORTEST_NS, durationNs / 2);
    }

    /** {@return how long it looks at present} */
    long durationNs() {
        return durationNs;
    }
}
