// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce;

/**
 * The estimated round-trip time to one peer, from its previous responses. Queue pairs to the same peer share one
 * estimate, so that a new connection need not measure it again, and all notice at once when the peer has become slow.
 *
 * <p>Source: RFC 6298, section 2; sharing as in RFC 9040.
 */
public final class RoundTripEstimate {
    private long smoothedNs;
    private long variationNs;
    private long shortestNs = Long.MAX_VALUE;
    private boolean isGuessed;
    private boolean isOfLosslessPath;

    /** Creates an estimate without samples. */
    public RoundTripEstimate() {}

    /** A response came after this time, but it is not known to which packet. Used only until there is a real sample. */
    public void guess(long roundTripNs, boolean isLossless) {
        if (!isKnown()) {
            begin(roundTripNs);
            isGuessed = true;
            isOfLosslessPath = isLossless;
        }
    }

    private void begin(long roundTripNs) {
        shortestNs = roundTripNs;
        smoothedNs = Math.max(1, roundTripNs);
        variationNs = roundTripNs / 2;
    }

    /** Adds a sample of a path that may lose packets: the time from a packet to its response, without a retransmission meanwhile. */
    public void add(long roundTripNs) {
        add(roundTripNs, false);
    }

    /**
     * As above, of a path that may be lossless. The first sample of a path that loses packets is a new beginning: a lossless
     * one is another way, without queues of routers.
     */
    public void add(long roundTripNs, boolean isLossless) {
        boolean isOfAnotherPath = isOfLosslessPath && !isLossless;
        isOfLosslessPath = isLossless;
        if (!isKnown() || isGuessed || isOfAnotherPath) {
            isGuessed = false;
            begin(roundTripNs);
        } else {
            shortestNs = Math.min(shortestNs, roundTripNs);
            variationNs += (Math.abs(smoothedNs - roundTripNs) - variationNs) / 4;
            smoothedNs += (roundTripNs - smoothedNs) / 8;
        }
    }

    /** {@return whether any response has come} */
    public boolean isKnown() {
        return smoothedNs != 0;
    }

    /** {@return whether it is that of a lossless path, which says how busy the peer is, but nothing of a queue on the way} */
    public boolean isOfLosslessPath() {
        return isOfLosslessPath;
    }

    /** {@return the mean time to a response} */
    public long smoothedNs() {
        return smoothedNs;
    }

    /** {@return the time before which no response can come} */
    public long shortestNs() {
        return shortestNs;
    }

    /** {@return the time after which an answer is overdue} */
    public long overdueNs() {
        return smoothedNs + 4 * variationNs;
    }
}
