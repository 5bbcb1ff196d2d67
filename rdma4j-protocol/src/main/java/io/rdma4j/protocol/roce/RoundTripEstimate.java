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

    /** Creates an estimate without samples. */
    public RoundTripEstimate() {}

    /** A response came after this time, but it is not known to which packet. Used only until there is a real sample. */
    public void guess(long roundTripNs) {
        if (!isKnown()) {
            begin(roundTripNs);
            isGuessed = true;
        }
    }

    private void begin(long roundTripNs) {
        shortestNs = roundTripNs;
        smoothedNs = Math.max(1, roundTripNs);
        variationNs = roundTripNs / 2;
    }

    /** Adds a sample: the time from a packet to its response, without a retransmission meanwhile. */
    public void add(long roundTripNs) {
        if (!isKnown() || isGuessed) {
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
