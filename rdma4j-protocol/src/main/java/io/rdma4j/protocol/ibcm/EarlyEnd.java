// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Errno;

/**
 * Ends a request early if the system says that it cannot be answered.
 *
 * <p>A quarter of a second after a request was sent without an answer, the host has looked for what the system reports of
 * packets to its destination. A report that there is no host, or no way to it, ends the request, as it ends connecting by
 * TCP; if the peer has asked for more time, only if it is still so a second later. After any other report, such
 * as that no socket has the port, the request is sent again at once and looked for again: a process may be about to
 * start, and a firewall may let the next packet through. The request is given up when it was refused {@link #ENOUGH} times
 * in a row, a quarter of a second apart. A request to a loopback address is sent again in any case, because some hosts
 * find out only then whether a socket has the port.
 */
final class EarlyEnd {
    static final long INTERVAL_NS = 250_000_000;
    static final int ENOUGH = 3;
    /** A peer that is there has answered one of several requests by then, or asked for more time. */
    static final long SILENCE_NS = 4_000_000_000L;
    private static final long NEVER = Long.MIN_VALUE;
    private static final long LASTING_NS = 1_000_000_000;

    /** What to do when a time is over. */
    enum Next {
        /** Nothing was reported: the answer is waited for as long as usual. */
        WAIT,
        /** Send it again, which is no retry. */
        AGAIN,
        /** The usual time is over. */
        RETRY
    }

    private final boolean isLoopback;
    private final long patienceNs;
    private final long intervalNs;
    private long begunNs;
    private long sentNs;
    /** The time of the look is still to come. */
    private boolean isEarly;
    private boolean hasSent;
    /** The last one was a repetition, with which the host asked. */
    private boolean hasAsked;
    private boolean isRefused;
    private int refusals;
    private long countedNs;
    private boolean isAnswered;
    private boolean isSilenceReported;
    /** When the system reported first that there is no host or no way to it, since the peer has answered. */
    private long goneNs = NEVER;
    private Errno reason = Errno.ETIMEDOUT;

    /** @param patienceNs how long an answer is usually waited for */
    EarlyEnd(CmPeer peer, long patienceNs) {
        isLoopback = peer.remote().isLoopback();
        this.patienceNs = patienceNs;
        intervalNs = Math.min(INTERVAL_NS, patienceNs);
    }

    /** The request is sent. {@return when to look for reports} */
    long onSent(long nowNs) {
        sentNs = nowNs;
        hasAsked = hasSent;
        if (!hasSent) {
            begunNs = nowNs;
        }
        hasSent = true;
        isRefused = false;
        isEarly = intervalNs < patienceNs;
        return nowNs + intervalNs;
    }

    /** {@return when it was sent last} */
    long sentNs() {
        return sentNs;
    }

    /** {@return the end of the usual time} */
    long patienceEndsNs() {
        return sentNs + patienceNs;
    }

    /** The time is over. */
    Next onDeadline() {
        boolean wasEarly = isEarly;
        isEarly = false;
        if (isRefused) {
            return Next.AGAIN;
        }
        if (wasEarly) {
            return isLoopback && !hasAsked ? Next.AGAIN : Next.WAIT;
        }
        onLetThrough();
        return Next.RETRY;
    }

    /** The peer has said something: it is there. */
    void onAnswer() {
        isAnswered = true;
        goneNs = NEVER;
        isEarly = false;
        isRefused = false;
        onLetThrough();
    }

    /** {@return whether the peer has said something} */
    boolean isAnswered() {
        return isAnswered;
    }

    /** {@return whether the peer has said nothing for so long that there may be none} True only once. */
    boolean becomesSilent(long nowNs) {
        if (isAnswered || isSilenceReported || nowNs - begunNs < SILENCE_NS) {
            return false;
        }
        isSilenceReported = true;
        return true;
    }

    /** The last packet was not refused. */
    private void onLetThrough() {
        refusals = 0;
        reason = Errno.ETIMEDOUT;
    }

    /** The system reports why packets to the destination do not arrive. {@return whether the request is given up} */
    boolean onRefused(Errno why, long nowNs) {
        if (isOfThisMoment(why)) {
            return false;
        }
        reason = why;
        isRefused = true;
        if (isGone(why)) {
            return isGoneForGood(nowNs);
        }
        if (refusals > 0 && nowNs - countedNs < intervalNs) {
            return false;
        }
        countedNs = nowNs;
        return ++refusals >= ENOUGH;
    }

    /** {@return whether it has lasted} A host that was there a moment ago may be behind a link that comes up again. */
    private boolean isGoneForGood(long nowNs) {
        if (isAnswered && goneNs == NEVER) {
            goneNs = nowNs;
            return false;
        }
        return !isAnswered || nowNs - goneNs >= LASTING_NS;
    }

    /** Queues of this host are full, or it is about a longer packet. */
    private static boolean isOfThisMoment(Errno why) {
        return why == Errno.ENOBUFS || why == Errno.ENOMEM || why == Errno.EAGAIN
                || why == Errno.EMSGSIZE;
    }

    /** What TCP gives up connecting for as well. */
    private static boolean isGone(Errno why) {
        return why == Errno.ENETUNREACH || why == Errno.EHOSTUNREACH || why == Errno.EHOSTDOWN
                || why == Errno.ENETDOWN;
    }

    /** {@return what the system has reported last; ETIMEDOUT if nothing that still holds} */
    Errno reason() {
        return reason;
    }
}
