// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.util.concurrent.TimeUnit;

/**
 * The time of a timed test, of which the middle counts; a test of so many messages has a span that ends only when it is
 * given up.
 *
 * <p>Time passes only by {@link #tick}, so that a loop looks at the clock once a round.
 */
final class TimeWindow {
    private final boolean isTimed;
    private final long marginNs;
    private final long lengthNs;
    private boolean hasBegun;
    private boolean isGivenUp;
    private long beginNs;
    private long nowNs;
    private long counted;

    TimeWindow(Plan plan) {
        isTimed = plan.isTimed();
        marginNs = TimeUnit.SECONDS.toNanos(plan.marginSeconds());
        lengthNs = TimeUnit.SECONDS.toNanos(plan.seconds());
    }

    /** Begins, unless it has begun. */
    void begin() {
        if (!hasBegun) {
            hasBegun = true;
            beginNs = System.nanoTime();
            nowNs = beginNs;
        }
    }

    void tick() {
        nowNs = System.nanoTime();
    }

    boolean isTimed() {
        return isTimed;
    }

    /** Something was lost: the time is over, whatever is measured. */
    void giveUp() {
        isGivenUp = true;
    }

    boolean isOver() {
        return isGivenUp || (isTimed && hasBegun && nowNs - beginNs >= lengthNs);
    }

    /** Counts messages, if it is the time to. */
    void count(long messages) {
        long atNs = nowNs - beginNs;
        if (isTimed && hasBegun && atNs >= marginNs && atNs < lengthNs - marginNs) {
            counted += messages;
        }
    }

    /** {@return messages in the middle} */
    long counted() {
        return counted;
    }

    /** {@return how long the middle is} */
    long countedNs() {
        return lengthNs - 2 * marginNs;
    }
}
