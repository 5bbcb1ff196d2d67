// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.jspecify.annotations.Nullable;

/**
 * Tells whether for some time one thread alone has got what it waited for, however many wait beside it. Threads share it without any order: it need not be exact.
 */
final class LoneThread {
    private final long settledNs;
    /** Who has got something last, and since when nobody else has. */
    private volatile @Nullable Thread last;
    private volatile long sinceNs;

    /** @param settledNs for how long it has to be the only one */
    LoneThread(long settledNs) {
        this.settledNs = settledNs;
        startAgain();
    }

    /** The calling thread has got what it waited for. */
    void onServed() {
        if (!isLast()) {
            last = Thread.currentThread();
            startAgain();
        }
    }

    /** It has to be the only one for as long again. */
    void startAgain() {
        sinceNs = System.nanoTime();
    }

    /** {@return whether there is none but one} */
    boolean isThere(long nowNs) {
        return nowNs - sinceNs > settledNs;
    }

    /** {@return whether it is the calling thread} */
    boolean isCaller(long nowNs) {
        return isLast() && isThere(nowNs);
    }

    private boolean isLast() {
        return Thread.currentThread().equals(last);
    }
}
