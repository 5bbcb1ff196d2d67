package io.rdma4j.protocol.roce;

/**
 * How long the answers of one peer take, learnt from those that came. Queue pairs that lead to the same peer share
 * one, so that a new connection need not learn it anew, and each hears at once when the peer has become slow.
 *
 * <p>Source: RFC 6298, section 2; sharing as in RFC 9040.
 */
public final class RoundTripEstimate {
    private long smoothedNs;
    private long variationNs;
    private long shortestNs = Long.MAX_VALUE;
    private boolean isGuessed;

    /** Knows nothing yet. */
    public RoundTripEstimate() {}

    /** An answer came after this time, but it is not known to what. It counts where nothing is known, until more is. */
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

    /** A packet was answered after this time, and nothing was sent again meanwhile. */
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

    /** {@return whether any answer came yet} */
    public boolean isKnown() {
        return smoothedNs != 0;
    }

    /** {@return the time before which no answer can come} */
    public long shortestNs() {
        return shortestNs;
    }

    /** {@return the time after which an answer is overdue} */
    public long overdueNs() {
        return smoothedNs + 4 * variationNs;
    }
}
