package io.rdma4j.protocol.rc;

/**
 * When a requester sends again, and when it gives up.
 *
 * <p>Three clocks run while packets are unacknowledged. The time-out is the standard's (IBTA 9.7.6.1.3):
 * each costs one of {@code retry_cnt} retries. It is long, for it must never fire wrongly; so an estimate
 * of the round trip (RFC 6298) sends again earlier, as often as it likes, without giving up. That one, too,
 * is slow to fire, for it sends everything again; sooner still a probe sends one packet, which does little
 * harm if nothing was lost (as in RFC 8985). Each clock starts anew with progress. A fourth one waits while
 * the peer has no receive posted.
 */
final class RetryTimer {
    static final long NEVER = Long.MAX_VALUE;

    private static final long UNKNOWN_ROUND_TRIP_NS = 1_000_000;
    private static final long MIN_PROBE_NS = 500_000;
    private static final long MIN_EARLY_NS = 20_000_000;
    private static final long INITIAL_EARLY_NS = 50_000_000;
    private static final long MAX_EARLY_NS = 1_000_000_000;
    private static final long MAX_CHARGE_NS = 50_000_000;

    private long timeoutNs = NEVER;
    private int retryCount;
    private int rnrRetry;

    private long timeoutAtNs = NEVER;
    private long earlyAtNs = NEVER;
    private long probeAtNs = NEVER;
    private long rnrUntilNs = NEVER;
    private int retriesLeft;
    private int rnrRetriesLeft;

    private long smoothedNs;
    private long variationNs;
    private int backoff;
    private int probes;
    private long samplePsn = -1;
    private long sampleSentNs;
    private long lossUna = -1;
    private long lossNs;
    private boolean hasCharged;
    private long chargedNs;

    void configure(long newTimeoutNs, int newRetryCount, int newRnrRetry) {
        timeoutNs = newTimeoutNs;
        retryCount = newRetryCount;
        rnrRetry = newRnrRetry;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    void reset() {
        stop();
        rnrUntilNs = NEVER;
        smoothedNs = 0;
        variationNs = 0;
        backoff = 0;
        probes = 0;
        samplePsn = -1;
        lossUna = -1;
        hasCharged = false;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    long deadlineNs() {
        return Math.min(Math.min(rnrUntilNs, probeAtNs), Math.min(timeoutAtNs, earlyAtNs));
    }

    /** A packet was sent; {@code acknowledgeRequested} makes it a candidate for a round trip sample. */
    void onSent(long psn, boolean acknowledgeRequested, boolean isRetransmission, long nowNs) {
        if (timeoutAtNs == NEVER && earlyAtNs == NEVER) {
            start(nowNs);
        }
        if (acknowledgeRequested && samplePsn < 0 && !isRetransmission) {
            samplePsn = psn;
            sampleSentNs = nowNs;
        }
    }

    /** Packets below {@code una} are acknowledged; some are new. */
    void onProgress(long una, boolean isIdle, long nowNs) {
        if (samplePsn >= 0 && una > samplePsn) {
            sample(nowNs - sampleSentNs);
            samplePsn = -1;
        }
        backoff = 0;
        probes = 0;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        rnrUntilNs = NEVER;
        if (isIdle) {
            stop();
        } else {
            start(nowNs);
        }
    }

    /** {@return whether the estimate says it is time to send again} */
    boolean isEarlyDue(long nowNs) {
        return earlyAtNs <= nowNs;
    }

    /** {@return whether it is time to ask by one packet what has arrived} */
    boolean isProbeDue(long nowNs) {
        return probeAtNs <= nowNs;
    }

    /** That packet is sent; the next one waits twice as long. */
    void onProbe(long nowNs) {
        probes++;
        samplePsn = -1;
        probeAtNs = nextProbeNs(nowNs);
    }

    /** {@return how many probes were sent since the last progress} */
    int probes() {
        return probes;
    }

    /** {@return whether a time-out has passed} */
    boolean isTimeoutDue(long nowNs) {
        return timeoutAtNs <= nowNs;
    }

    /**
     * {@return whether a sign of loss is news} What was under way when the requester went back keeps
     * telling of the same loss for a round trip.
     *
     * @param una the oldest packet that is not acknowledged
     */
    boolean isNewLoss(long una, long nowNs) {
        long roundTripNs = smoothedNs == 0 ? UNKNOWN_ROUND_TRIP_NS : smoothedNs + variationNs;
        return una != lossUna || nowNs - lossNs > roundTripNs;
    }

    /** The requester sends again without progress; a sample would be ambiguous (Karn). */
    void onRetransmit(long una, long nowNs) {
        lossUna = una;
        lossNs = nowNs;
        backoff = Math.min(backoff + 1, 16);
        samplePsn = -1;
        earlyAtNs = nowNs + earlyNs();
        probeAtNs = nextProbeNs(nowNs);
        if (timeoutAtNs <= nowNs) {
            timeoutAtNs = later(nowNs, timeoutNs);
        }
    }

    /**
     * {@return whether to go on after the peer's answers have shown a loss} The peer is alive, or it would
     * not answer; on a bad network several tries in a row are lost again within a few round trips. So a
     * series of losses costs one retry a quarter of the time-out, or a connection would end within a
     * millisecond.
     */
    boolean takeRetryForLoss(long nowNs) {
        long intervalNs = Math.min(MAX_CHARGE_NS, timeoutNs / 4);
        if (hasCharged && nowNs - chargedNs < intervalNs) {
            return true;
        }
        hasCharged = true;
        chargedNs = nowNs;
        return takeRetry();
    }

    /** {@return whether a retry was left, which is used up} */
    boolean takeRetry() {
        return retriesLeft-- > 0;
    }

    /** {@return whether the peer may be asked again after its not being ready} Seven is for ever. */
    boolean takeRnrRetry() {
        return rnrRetry == 7 || rnrRetriesLeft-- > 0;
    }

    /** Nothing is sent until then; the other clocks stand still. */
    void waitForReceiver(long untilNs) {
        stop();
        samplePsn = -1;
        rnrUntilNs = untilNs;
    }

    boolean isWaitingForReceiver() {
        return rnrUntilNs != NEVER;
    }

    boolean isReceiverWaitOver(long nowNs) {
        return rnrUntilNs <= nowNs;
    }

    void endReceiverWait() {
        rnrUntilNs = NEVER;
    }

    private void start(long nowNs) {
        timeoutAtNs = later(nowNs, timeoutNs);
        earlyAtNs = nowNs + earlyNs();
        probeAtNs = nextProbeNs(nowNs);
    }

    private void stop() {
        timeoutAtNs = NEVER;
        probeAtNs = NEVER;
        earlyAtNs = NEVER;
    }

    private static long later(long nowNs, long delayNs) {
        return delayNs == NEVER ? NEVER : nowNs + delayNs;
    }

    /** {@return when to probe, never if everything is to be sent again before} */
    private long nextProbeNs(long nowNs) {
        if (smoothedNs == 0) {
            return NEVER;
        }
        long delayNs = Math.max(MIN_PROBE_NS, smoothedNs + 4 * variationNs) << Math.min(probes, 10);
        return nowNs + delayNs < earlyAtNs ? nowNs + delayNs : NEVER;
    }

    private long earlyNs() {
        long estimate = smoothedNs == 0
                ? INITIAL_EARLY_NS
                : Math.max(MIN_EARLY_NS, smoothedNs + 4 * variationNs);
        // Several tries fit into each time-out, or a few losses in a row would end a connection.
        long longest = Math.max(MIN_EARLY_NS, Math.min(MAX_EARLY_NS, timeoutNs / 4));
        return Math.min(longest, estimate << Math.min(backoff, 10));
    }

    private void sample(long roundTripNs) {
        if (smoothedNs == 0) {
            smoothedNs = Math.max(1, roundTripNs);
            variationNs = roundTripNs / 2;
        } else {
            variationNs += (Math.abs(smoothedNs - roundTripNs) - variationNs) / 4;
            smoothedNs += (roundTripNs - smoothedNs) / 8;
        }
    }
}
