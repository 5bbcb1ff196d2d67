// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides whether a request waits for those that the same thread will post next: packets to one process of this host leave by one system call. A thread that has
 * taken several messages answers most of them one after the other. So its answers wait for each other, unless it takes long for one of them, or they go
 * to different processes. For the engine's owner, but for what counts messages.
 *
 * <p>What waits leaves at the latest when the thread looks for more and its queue has none, or waits, or when any thread sends. If none of that comes, the background
 * thread sends it at its next look, as everything that is held back.
 */
final class GatheredAnswers {
    /** Where requests go that leave alone in any case. */
    static final long ALONE = 0;
    /** To who takes longer from one answer to the next, a system call matters little. */
    static final long BRISK_NS = 10_000;
    /** Messages that were not answered for so long count no more. */
    static final long LONG_AGO_NS = 500_000;
    /** So much longer may the first answer take for each message, which was received and taken meanwhile. */
    static final long EACH_NS = 1_000;
    /** An answer waits no longer, if another is posted then. */
    static final long LONGEST_NS = 50_000;

    /** A round brings no more that are worth an answer each. */
    private static final int MOST = 64;
    private static final int COUNT_BITS = 16;
    private static final long COUNT_MASK = (1 << COUNT_BITS) - 1;

    /**
     * The thread that has taken messages last, and below its id how many it has not answered. One number, so that threads which take at the same moment
     * lose each other's, and none gets those of another.
     */
    private long unanswered;
    /** Where the last request went. */
    private long lastTo = ALONE;
    /** When the thread answered last, or may be expected to have taken the first message. */
    private long lastNs;
    private long sinceNs;
    private boolean isGathering;

    /** The calling thread has taken a message. Without a lock: what is lost costs a system call. */
    void onTaken() {
        long before = unanswered;
        long thread = Thread.currentThread().threadId() << COUNT_BITS;
        unanswered = (before & ~COUNT_MASK) == thread && (before & COUNT_MASK) < COUNT_MASK
                ? before + 1
                : thread + 1;
    }

    /** The calling thread has left a request to the owner. */
    void onAnswered() {
        long before = unanswered;
        if ((before & COUNT_MASK) != 0 && isOfCaller(before)) {
            unanswered = before - 1;
        }
    }

    /** The calling thread posts several requests as one, and it is not known how many of them are answers. */
    void onList() {
        if (unanswered != 0 && isOfCaller(unanswered)) {
            unanswered = 0;
        }
    }

    /** A round of the calling thread has brought so many messages, to whoever takes them. */
    void onRound(int delivered, long nowNs) {
        if (delivered > 0) {
            lastNs = nowNs + Math.min(delivered, MOST) * EACH_NS;
        } else if (unanswered != 0 && isOfCaller(unanswered)) {
            // It looks for more, and there are none: it has answered those before as far as it wants to.
            unanswered = 0;
        }
    }

    private static boolean isOfCaller(long count) {
        return count >>> COUNT_BITS == Thread.currentThread().threadId();
    }

    /** {@return whether a thread has taken messages that no request has answered} */
    boolean isExpecting() {
        return (unanswered & COUNT_MASK) != 0;
    }

    /**
     * {@return whether a request that the calling thread has posted waits for the next one}
     *
     * @param to a number for the process it goes to, {@link #ALONE} if it leaves alone in any case
     */
    boolean takes(long to, long nowNs) {
        long before = unanswered;
        if ((before & COUNT_MASK) == 0 || !isOfCaller(before)) {
            return false;
        }
        long tookNs = nowNs - lastNs;
        // Who comes back so late has done something else, and perhaps answers no more of them.
        long left = tookNs < LONG_AGO_NS ? before - 1 : 0;
        unanswered = left;
        lastNs = nowNs;
        boolean isToSame = to == lastTo && to != ALONE;
        lastTo = to;
        if ((left & COUNT_MASK) == 0 || tookNs >= BRISK_NS || !isToSame) {
            return false;
        }
        if (!isGathering) {
            isGathering = true;
            sinceNs = nowNs;
        }
        return nowNs - sinceNs < LONGEST_NS;
    }

    /** {@return whether answers wait} */
    boolean isGathering() {
        return isGathering;
    }

    /** Everything leaves. {@return whether answers have waited for each other} */
    boolean onTransmit() {
        boolean wasGathering = isGathering;
        isGathering = false;
        return wasGathering;
    }
}
