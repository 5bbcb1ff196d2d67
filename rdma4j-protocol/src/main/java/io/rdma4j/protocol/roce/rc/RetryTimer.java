// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RoundTripEstimate;

/**
 * Decides when a requester sends again, and when it gives up.
 *
 * <p>Two timers run while packets are unacknowledged. The standard's time-out (IBTA 9.7.6.1.3) costs one
 * of {@code retry_cnt} retries each time. It is long, because it must never expire wrongly. So a probe timer that follows
 * the round trips (RFC 6298) expires earlier, and costs no retry. Either timer sends one packet again; more are sent only
 * when the response shows what was lost. A third timer runs while the peer has no receive posted.
 *
 * <p>The time-out also runs while nothing is unacknowledged but a request is due: the host may have no room for its first
 * packet, and for how long nobody knows. What has not been sent is not probed for.
 *
 * <p>The interval of the probe timer grows each time. It keeps its length, also after progress, until a packet
 * that was sent only once has been answered (RFC 6298 §5.5 and §5.7): so a slow peer is not probed more often
 * than it can answer.
 */
final class RetryTimer {
    static final long NEVER = Long.MAX_VALUE;

    private static final long MIN_ASK_NS = 500_000;
    private static final long INITIAL_ASK_NS = 1_000_000_000;
    private static final long MAX_ASK_NS = 1_000_000_000;
    /** The interval in which losses cost a retry if there is no time-out. */
    private static final long ENDLESS_CHARGE_NS = 1_000_000_000;
    /**
     * So many times it asks soon, each time after twice as long, for each repairs a loss within a few round trips. Then
     * each time after four times as long, so that a peer which stands still for a second is asked ten times at most.
     */
    private static final int SOON = 3;
    /**
     * How many time-outs cost one retry where it is not the peer that is slow, but the way to it. The standard lets a
     * time-out take up to four times as long as its attribute says (IBTA 9.7.6.1.3).
     */
    private static final int HELD_UP = 4;
    /** So many packets at least are sent in the time after which a requester gives up. */
    private static final int TRIES = 8;
    /** A queue that is full for less than this is no narrow link, and a busy peer takes as long. */
    private static final long QUEUEING_NS = 1_000_000;
    /** The interval of probes on a lossless path. */
    private static final long LOSSLESS_NS = 100_000_000;

    private long timeoutNs = NEVER;
    private int retryCount;
    private int rnrRetry;
    private RoundTripEstimate estimate = new RoundTripEstimate();

    private boolean isLossless;
    private long behindNs;
    private long timeoutAtNs = NEVER;
    /** How much later than a whole time-out it ends. */
    private long timeoutLateNs;
    private long askAtNs = NEVER;
    private long rnrUntilNs = NEVER;
    /** The next packet is not sent before, if packets are spaced. */
    private long spacedUntilNs = NEVER;
    private long spacingNs;
    private long jitter;
    private int retriesLeft;
    private int rnrRetriesLeft;
    private int heldUp;

    /** The start of the wait for a response: the last probe, the last response to another packet, or the first packet. */
    private long askedNs;
    private int backoff;
    private int asks;
    private long samplePsn = -1;
    private long sampleSentNs;
    private long lossUna = -1;
    private long lossNs;
    private long lossRoundTripNs;
    private boolean hasCharged;
    private long chargedNs;

    /** @param seed of the jitter, another one for each queue pair */
    void configure(long newTimeoutNs, int newRetryCount, int newRnrRetry, long seed) {
        jitter = seed;
        timeoutNs = newTimeoutNs;
        retryCount = newRetryCount;
        rnrRetry = newRnrRetry;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    /** Packets travel on a path that may lose them. */
    void lossy() {
        isLossless = false;
        behindNs = 0;
    }

    /**
     * Packets travel on a path that loses none at present.
     *
     * @param mostBehindNs how far behind the time may be at which they are sent; time-outs are longer by as much, so that none is too short
     */
    void lossless(long mostBehindNs) {
        isLossless = true;
        behindNs = mostBehindNs;
    }

    /** Sets the estimate of the round-trip time to the peer. */
    void estimate(RoundTripEstimate newEstimate) {
        estimate = newEstimate;
    }

    void reset() {
        stop();
        rnrUntilNs = NEVER;
        spacedUntilNs = NEVER;
        spacingNs = 0;
        backoff = 0;
        asks = 0;
        heldUp = 0;
        samplePsn = -1;
        lossUna = -1;
        hasCharged = false;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    long deadlineNs() {
        long earliestNs = timeoutAtNs < askAtNs ? timeoutAtNs : askAtNs;
        if (rnrUntilNs < earliestNs) {
            earliestNs = rnrUntilNs;
        }
        return spacedUntilNs < earliestNs ? spacedUntilNs : earliestNs;
    }

    /**
     * Packets were sent for the first time.
     *
     * @param psn the last of them
     * @param acknowledgeRequested makes it a candidate for a round trip sample
     */
    void onSent(long psn, boolean acknowledgeRequested, long nowNs) {
        startUnlessRunning(nowNs);
        if (acknowledgeRequested && samplePsn < 0 && !knowsLosslessPath()) {
            samplePsn = psn;
            sampleSentNs = nowNs;
        }
    }

    /** A path that loses nothing is not timed: what an answer takes there says how busy the peer was, once. */
    private boolean knowsLosslessPath() {
        return isLossless && estimate.isOfLosslessPath() && estimate.isKnown();
    }

    /**
     * Packets were sent again: what is answered next is not known (Karn), also of those that were sent once, for the answer
     * to a copy acknowledges them, too.
     */
    void onSentAgain(long nowNs) {
        startUnlessRunning(nowNs);
        samplePsn = -1;
    }

    private void startUnlessRunning(long nowNs) {
        // Not if only a request was due: what leaves late has a whole time-out to be answered.
        if (askAtNs == NEVER) {
            start(nowNs);
        }
    }

    /** A request is due, and nothing is unacknowledged. */
    void onDue(long nowNs) {
        if (timeoutAtNs == NEVER) {
            startTimeout(nowNs);
        }
    }

    /** Nothing is unacknowledged, and no request is due. */
    void onIdle() {
        stop();
    }

    /** Packets below {@code una} are acknowledged; some are new. */
    void onProgress(long una, boolean isIdle, long nowNs) {
        // [IBTA 9.7.6-4]
        if (samplePsn >= 0 || asks > 0 || backoff > 0 || !estimate.isKnown()) {
            learn(una, nowNs);
        }
        asks = 0;
        heldUp = 0;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        rnrUntilNs = NEVER;
        if (isIdle) {
            stop();
        } else {
            start(nowNs);
        }
    }

    private void learn(long una, long nowNs) {
        boolean isSampled = samplePsn >= 0 && una > samplePsn;
        if (isAnswerToAsking(nowNs)) {
            backoff = 0;
        } else if (isSampled) {
            estimate.add(nowNs - sampleSentNs, isLossless);
            backoff = 0;
        }
        if (isSampled) {
            samplePsn = -1;
        }
        learnAtFirst(nowNs);
    }

    /**
     * {@return whether an answer that comes now is to what was asked last} It may be a late one to what was sent before,
     * but then it comes at any time, and seldom at this one. So a packet or an answer was lost, and the peer is not slow.
     */
    private boolean isAnswerToAsking(long nowNs) {
        if (asks == 0) {
            return false;
        }
        long promptNs = estimate.isKnown() ? Math.max(MIN_ASK_NS, 2 * estimate.shortestNs())
                : MIN_ASK_NS;
        return nowNs - askedNs < promptNs;
    }

    /**
     * The first answer of all, whatever it is to, gives a first idea. It may be to what was sent before the last asking, and
     * the peer slower than it seems: how rarely it is asked is not forgotten by that.
     */
    private void learnAtFirst(long nowNs) {
        estimate.guess(nowNs - askedNs, isLossless);
    }

    /** {@return whether the probe timer has expired} */
    boolean isAskDue(long nowNs) {
        if (askAtNs > nowNs) {
            return false;
        }
        if (isSpacing(nowNs)) {
            askAtNs = spacedUntilNs + intervalNs();
            return false;
        }
        // Other queue pairs may have found meanwhile that the peer is slow.
        askAtNs = askedNs + intervalNs();
        return askAtNs <= nowNs;
    }

    /** {@return whether the peer has been silent for so long that more than one packet may be lost} */
    boolean isSilenceLong() {
        return backoff > SOON || !estimate.isKnown();
    }

    /** A probe is sent; the next interval is longer. */
    void onAsk(long nowNs) {
        draw();
        asks++;
        backoff = Math.min(backoff + 1, 16);
        askedNs = nowNs;
        askAtNs = nowNs + intervalNs();
    }

    /** Postpones the probe: the path is lossless, so the peer is only slow. The path may change later. */
    void postponeAsking(long nowNs) {
        askAtNs = nowNs + LOSSLESS_NS;
    }

    /** {@return the number of probes since the last progress} */
    int asks() {
        return asks;
    }

    /** {@return whether a time-out has passed} */
    boolean isTimeoutDue(long nowNs) {
        return timeoutAtNs <= nowNs;
    }

    /**
     * The next time-out begins. It is later by some part of a half, made good by the following one, so
     * that in all they take what the retries allow. The last one is whole, for the last retry is not the last try.
     */
    void onTimeout(long nowNs) {
        if (timeoutNs == NEVER) {
            timeoutAtNs = NEVER;
            return;
        }
        draw();
        long beforeNs = timeoutLateNs;
        timeoutLateNs = retriesLeft > 2 ? share(timeoutNs / 2) : 0;
        timeoutAtNs = nowNs + timeoutNs - beforeNs + timeoutLateNs;
    }

    /**
     * {@return whether an indication of loss is new} Packets that were in flight at the retransmission indicate the same
     * loss for one more round trip.
     *
     * @param una the oldest packet that is not acknowledged
     */
    boolean isNewLoss(long una, long nowNs) {
        return !isSameLoss(una) || nowNs - lossNs >= lossRoundTripNs;
    }

    /** {@return whether the oldest packet that is not acknowledged is known to be lost, and was sent again} */
    boolean isSameLoss(long una) {
        return una == lossUna;
    }

    /** The peer is still sending responses to earlier requests, so it is not silent. */
    void onOldAnswer(long nowNs) {
        askedNs = nowNs;
        askAtNs = nowNs + intervalNs();
    }

    /** An indication of loss came that may be an old one: a probe is sent as soon as it would count as new. */
    void onOldSign() {
        askAtNs = Math.min(askAtNs, lossNs + lossRoundTripNs);
        askedNs = Math.min(askedNs, askAtNs - intervalNs());
    }

    /** The requester sends again from {@code una}, for that is lost. The time-out begins anew, for the peer lives. */
    void onLoss(long una, long nowNs) {
        startTimeout(nowNs);
        lossUna = una;
        lossNs = nowNs;
        learnAtFirst(nowNs);
        // No response to packets sent now can come sooner.
        lossRoundTripNs = estimate.shortestNs();
        // A peer that reports a missing packet has processed the later ones, so it is not slow.
        backoff = 0;
        asks = 0;
        askedNs = nowNs;
        askAtNs = nowNs + intervalNs();
    }

    /**
     * {@return whether to go on after the peer's answers have shown a loss} The peer is alive, or it would not answer; on a
     * bad network several tries in a row are lost again within a few round trips. So a series of losses, after the first,
     * costs no more retries than the time-out would have cost meanwhile.
     */
    boolean takeRetryForLoss(long nowNs) {
        if (hasCharged && nowNs - chargedNs < chargeIntervalNs()) {
            return true;
        }
        hasCharged = true;
        chargedNs = nowNs;
        return takeRetry();
    }

    private long chargeIntervalNs() {
        if (timeoutNs == NEVER) {
            return ENDLESS_CHARGE_NS;
        }
        return isKnownToQueue() ? HELD_UP * timeoutNs : timeoutNs;
    }

    /**
     * {@return whether to go on after a time-out} The peer cannot answer packets that have not reached it. So while the
     * network accepts nothing, or the queue pairs before a narrow link crowd each other out, only some of the time-outs cost
     * a retry.
     *
     * @param isHeldUp whether the way to the peer may be what holds packets up
     */
    boolean takeRetryForSilence(boolean isHeldUp) {
        if (isHeldUp && ++heldUp % HELD_UP != 0) {
            return true;
        }
        return takeRetry();
    }

    /** {@return whether a retry was left, which is used up} */
    boolean takeRetry() {
        // [IBTA 9.7.6-1]
        return retriesLeft-- > 0;
    }

    /** {@return whether to send again after an RNR NAK} Seven means without a limit. */
    boolean takeRnrRetry() {
        // [IBTA 9.7.6-3]
        return rnrRetry == 7 || rnrRetriesLeft-- > 0;
    }

    /** Nothing is sent until then; the other timers are stopped. */
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

    /** Sending continues; the timers run again, even if nothing can be sent at once. */
    void endReceiverWait(long nowNs) {
        rnrUntilNs = NEVER;
        startUnlessRunning(nowNs);
    }

    /** {@return the longest time between packets that leaves as many tries as a retry count of 7} */
    long longestSpacingNs() {
        return timeoutNs == NEVER ? ENDLESS_CHARGE_NS / TRIES
                : (retryCount + 1) * timeoutNs / TRIES;
    }

    /**
     * {@return whether answers take so long that packets may be waiting in a queue, or nothing is known} The shortest time
     * ever seen does not tell: a queue that was full from the beginning has shown no shorter one.
     */
    boolean isQueueing() {
        return !estimate.isKnown() || isKnownToQueue();
    }

    /** {@return whether answers have taken so long that packets may be waiting in a queue} */
    boolean isKnownToQueue() {
        return estimate.isKnown() && !estimate.isOfLosslessPath()
                && estimate.smoothedNs() > QUEUEING_NS;
    }

    /** {@return the estimate of the time from a packet to its answer} */
    long roundTripNs() {
        return estimate.isKnown() ? estimate.smoothedNs() : MIN_ASK_NS;
    }

    /**
     * A packet was sent or lost: the next one leaves after about this time, so that queue pairs that lost packets at the same
     * moment do not send again at the same moment.
     *
     * @param newSpacingNs 0 if packets are not spaced
     */
    void space(long newSpacingNs, long nowNs) {
        spacingNs = newSpacingNs;
        if (newSpacingNs == 0) {
            spacedUntilNs = NEVER;
            return;
        }
        draw();
        spacedUntilNs = nowNs + newSpacingNs / 2 + share(newSpacingNs);
        askedNs = nowNs;
        askAtNs = nowNs + intervalNs();
    }

    /** {@return some part of a time, the same until the next draw} */
    private long share(long timeNs) {
        return (timeNs >>> 16) * (jitter >>> 48);
    }

    private void draw() {
        // A linear congruential generator; Knuth's multiplier and increment.
        jitter = jitter * 6364136223846793005L + 1442695040888963407L;
    }

    /** {@return whether the next packet has to wait} */
    boolean isSpacing(long nowNs) {
        return spacedUntilNs != NEVER && spacedUntilNs > nowNs;
    }

    /** The next packet need not wait any longer. */
    void endSpacing(long nowNs) {
        if (spacedUntilNs <= nowNs) {
            spacedUntilNs = NEVER;
        }
    }

    private void start(long nowNs) {
        askedNs = nowNs;
        startTimeout(nowNs);
        // A lossless path is not asked.
        askAtNs = nowNs + (isLossless && backoff == 0 ? LOSSLESS_NS : intervalNs());
    }

    private void stop() {
        timeoutAtNs = NEVER;
        askAtNs = NEVER;
    }

    private void startTimeout(long nowNs) {
        // [IBTA 9.7.6-2]
        timeoutLateNs = 0;
        timeoutAtNs = timeoutNs == NEVER ? NEVER : nowNs + timeoutNs + behindNs;
    }

    /** {@return how long to wait for a response before a probe} */
    private long intervalNs() {
        long firstNs = estimate.isKnown() ? Math.max(MIN_ASK_NS, estimate.overdueNs())
                : Math.min(INITIAL_ASK_NS, timeoutNs / 2);
        int doublings = backoff < SOON ? backoff : SOON - 1 + 2 * (backoff - SOON + 1);
        long longestNs = Math.max(MAX_ASK_NS, 4 * firstNs);
        if (retriesLeft == 0 && timeoutNs != NEVER) {
            // The last retry is not the last try.
            longestNs = timeoutNs - timeoutNs / 4;
        }
        if (spacingNs > 0 && retriesLeft > 0) {
            longestNs = Math.min(longestNs, longestSpacingNs());
        }
        long intervalNs = Math.max(spacingNs,
                Math.min(longestNs, firstNs << Math.min(doublings, 20)));
        return backoff > 0 && isSilenceLong() ? intervalNs + share(intervalNs / 4) : intervalNs;
    }
}
