package io.rdma4j.protocol.ibcm;

/**
 * Ends a request early if no process can answer it: on one machine the system knows this.
 *
 * <p>A request to a loopback address that has no answer yet is sent again after a quarter of a second, and from then on
 * the host finds out each time whether any socket has the destination port. If there is one, the request waits as long
 * as for a peer elsewhere. If there is none, its process may be about to start: the request is given up when it was
 * refused {@link #ENOUGH} times in a row, a quarter of a second apart.
 */
final class EarlyEnd {
    static final long INTERVAL_NS = 250_000_000;
    static final int ENOUGH = 3;

    private final boolean isPossible;
    private final long patienceNs;
    private boolean isEarly;
    private int refusals;

    /** @param patienceNs how long an answer is usually waited for */
    EarlyEnd(CmPeer peer, long patienceNs) {
        isPossible = peer.remote().isLoopback();
        this.patienceNs = patienceNs;
    }

    /** {@return whether to ask the system when the request is sent again} */
    boolean isPossible() {
        return isPossible;
    }

    /** The request is sent for the first time. {@return when to send it again} */
    long onFirst(long nowNs) {
        isEarly = isPossible && INTERVAL_NS < patienceNs;
        return nowNs + (isEarly ? INTERVAL_NS : patienceNs);
    }

    /** It is time to send it again. {@return whether earlier than usual, which is no retry} */
    boolean onDeadline() {
        boolean wasEarly = isEarly;
        isEarly = false;
        if (!wasEarly) {
            // The last one was not refused.
            refusals = 0;
        }
        return wasEarly;
    }

    /** No socket has the port. {@return when to send the request again; {@link Long#MAX_VALUE} to give up} */
    long onRefused(long nowNs) {
        if (++refusals == ENOUGH) {
            return Long.MAX_VALUE;
        }
        isEarly = true;
        return nowNs + Math.min(INTERVAL_NS, patienceNs);
    }
}
