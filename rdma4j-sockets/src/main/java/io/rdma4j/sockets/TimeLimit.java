// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.util.concurrent.TimeUnit;

/**
 * Until when something is waited for.
 *
 * @param endNs of {@link System#nanoTime}; counts unless it is endless
 */
record TimeLimit(boolean isEndless, long endNs) {
    static final TimeLimit NEVER = new TimeLimit(true, 0);

    /** {@return a limit} {@link Long#MAX_VALUE} is none. */
    static TimeLimit in(long timeoutNs) {
        return timeoutNs == Long.MAX_VALUE
                ? NEVER
                : new TimeLimit(false, System.nanoTime() + timeoutNs);
    }

    /** {@return a limit as sockets give it: 0 is none} */
    static TimeLimit ofSocket(int timeoutMs) {
        return timeoutMs == 0 ? NEVER : in(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
    }

    /** {@return a limit that ends later} */
    TimeLimit longerBy(long moreNs) {
        return isEndless ? this : new TimeLimit(false, endNs + moreNs);
    }

    /** {@return how long to wait now; {@link Long#MAX_VALUE} without an end} */
    long leftNs() {
        return isEndless ? Long.MAX_VALUE : Math.max(0, endNs - System.nanoTime());
    }

    boolean isOver() {
        return !isEndless && endNs - System.nanoTime() <= 0;
    }
}
