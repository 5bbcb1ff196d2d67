// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides whether a request waits for those that the same thread will post next: packets to one process leave by one system call. A thread that got
 * several messages in one round answers most of them one after the other. So its answers wait for each other, unless it takes long for one of them, or they go
 * to different processes. For the engine's owner.
 *
 * <p>What waits leaves at the latest when the thread looks for more messages or waits, or when any thread sends. If none of that comes, the background
 * thread sends it at its next look, as everything that is held back.
 */
final class GatheredAnswers {
    /** Where requests go that leave alone in any case. */
    static final long ALONE = 0;
    /** To who takes longer from one answer to the next, a system call matters little. */
    static final long BRISK_NS = 10_000;
    /** So much longer may the first answer take for each message, which was received and taken meanwhile. */
    static final long EACH_NS = 1_000;
    /** An answer waits no longer, if another is posted then. */
    static final long LONGEST_NS = 50_000;

    private long threadId;
    /** Where the last request went. */
    private long lastTo = ALONE;
    /** How many messages the thread has got and not answered. */
    private int unanswered;
    /** When it answered last, or may be expected to have taken the first message. */
    private long lastNs;
    private long sinceNs;
    private boolean isGathering;

    /** A round of the calling thread has brought so many messages for the application. */
    void onDelivered(int messages, long nowNs) {
        if (messages > 0) {
            threadId = Thread.currentThread().threadId();
            unanswered = messages;
            lastNs = nowNs + messages * EACH_NS;
        } else if (unanswered > 0 && Thread.currentThread().threadId() == threadId) {
            // It looks for more, so it has answered what it wants to.
            unanswered = 0;
        }
    }

    /** {@return whether a thread has got messages that no request has answered} */
    boolean isExpecting() {
        return unanswered > 0;
    }

    /**
     * {@return whether a request that the calling thread has posted waits for the next one} Only while {@link #isExpecting}.
     *
     * @param to a number for the process it goes to, {@link #ALONE} if it leaves alone in any case
     */
    boolean takes(long to, long nowNs) {
        if (Thread.currentThread().threadId() != threadId) {
            return false;
        }
        unanswered--;
        boolean isBrisk = nowNs - lastNs < BRISK_NS;
        lastNs = nowNs;
        boolean isToSame = to == lastTo && to != ALONE;
        lastTo = to;
        if (unanswered == 0 || !isBrisk || !isToSame) {
            return false;
        }
        if (!isGathering) {
            isGathering = true;
            sinceNs = nowNs;
        }
        return nowNs - sinceNs < LONGEST_NS;
    }

    /** Everything leaves. {@return whether answers have waited for each other} */
    boolean onTransmit() {
        boolean wasGathering = isGathering;
        isGathering = false;
        return wasGathering;
    }
}
