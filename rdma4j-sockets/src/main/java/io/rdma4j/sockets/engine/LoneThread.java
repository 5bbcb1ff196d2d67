// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.jspecify.annotations.Nullable;

/**
 * Tells whether the same happens to one thread alone, again and again, however many others there are. Times are of {@link System#nanoTime}. Threads share it without
 * any order: it need not be exact.
 */
final class LoneThread {
    private final long settledNs;
    private final long forgottenNs;
    /** To whom it has happened last, since when to nobody else, and when it was. */
    private volatile @Nullable Thread last;
    private volatile long sinceNs;
    private volatile long lastNs;

    /**
     * @param settledNs for how long it has to be the only one
     * @param forgottenNs after how long without anything it is none any more
     */
    LoneThread(long settledNs, long forgottenNs) {
        this.settledNs = settledNs;
        this.forgottenNs = forgottenNs;
    }

    /** It has happened to the calling thread. */
    void note(long nowNs) {
        lastNs = nowNs;
        if (!isLast()) {
            sinceNs = nowNs;
            last = Thread.currentThread();
        }
    }

    /** It has to be the only one for as long again. */
    void startAgain(long nowNs) {
        sinceNs = nowNs;
    }

    /** {@return whether there is one} */
    boolean isThere(long nowNs) {
        return last != null && nowNs - sinceNs > settledNs && nowNs - lastNs < forgottenNs;
    }

    /** {@return whether it is the calling thread} */
    boolean isCaller(long nowNs) {
        return isLast() && isThere(nowNs);
    }

    /** {@return whether it is the calling thread, and the last time is a moment ago} */
    boolean isCaller(long nowNs, long momentNs) {
        return isCaller(nowNs) && nowNs - lastNs < momentNs;
    }

    private boolean isLast() {
        return Thread.currentThread().equals(last);
    }
}
