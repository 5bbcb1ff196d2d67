// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

/**
 * How many packets may be in flight: grows while acknowledgements come, shrinks when packets are lost, collapses
 * when the peer is silent.
 *
 * <p>The standard leaves congestion to the fabric; over an ordinary network, whose queues and socket
 * buffers drop, the sender has to find its rate. Slow start and additive increase as in RFC 5681, in
 * packets; at most one decrease per window. A collapse is undone when it turns out that nothing was lost and the
 * acknowledgements were merely late (RFC 4015, RFC 5682).
 *
 * <p>Many queue pairs behind a short queue have less than one packet each. So a window of one packet shrinks further: into
 * a spacing, the time between one packet and the next, until one is acknowledged. It does so only where packets may wait in a
 * queue: on a path that loses packets for other reasons, a few packets in flight show a loss sooner.
 */
final class CongestionWindow {
    private static final int INITIAL = 32;
    private static final int MINIMUM = 4;
    private static final int MAXIMUM = 512;
    private static final int COLLAPSED = 2;
    /** So many acknowledged packets widen a window that is smaller than a first loss makes it. */
    private static final int NARROW_STEP = 8;
    /** The longest spacing, in round trips: behind a queue that holds a packet of each eighth queue pair. */
    private static final int MOST_ROUND_TRIPS = 8;

    /** The window of a lossless path, which itself delays a sender that sends too much. */
    private static final int LOSSLESS = 4096;

    private int packets;
    private boolean isLossless;
    private int threshold;
    private int acknowledged;
    private long recoveryEnd;
    private boolean isCollapsed;
    private int packetsBefore;
    private int thresholdBefore;
    /** The time between packets, 0 for none; otherwise the window is one packet. */
    private long spacingNs;
    private long spacingBeforeNs;
    private long roundTripNs;
    private boolean isQueueing;
    private long longestSpacingNs;

    CongestionWindow() {
        reset();
    }

    void reset() {
        packets = INITIAL;
        threshold = MAXIMUM;
        acknowledged = 0;
        recoveryEnd = Long.MIN_VALUE;
        isCollapsed = false;
        spacingNs = 0;
    }

    /** {@return how many packets may be in flight} */
    int packets() {
        return isLossless && !isCollapsed ? LOSSLESS : packets;
    }

    /** {@return the time from one packet to the next, 0 if the window alone limits them} */
    long spacingNs() {
        return isLossless && !isCollapsed ? 0 : spacingNs;
    }

    /**
     * Sets what is known of the way to the peer.
     *
     * @param newRoundTripNs the time from a packet to its answer, where the spacing begins
     * @param newLongestSpacingNs the longest spacing
     * @param isWaiting whether packets wait in a queue on the way
     */
    void path(long newRoundTripNs, long newLongestSpacingNs, boolean isWaiting) {
        isQueueing = isWaiting;
        roundTripNs = newRoundTripNs;
        longestSpacingNs = newLongestSpacingNs;
    }

    /** Sets whether the path is lossless and itself delays a sender that sends too much. */
    void lossless(boolean isSo) {
        isLossless = isSo;
    }

    /** So many packets were acknowledged; {@code una} is the oldest that is not. */
    void onAcknowledged(long count, long una) {
        if (una >= recoveryEnd) {
            isCollapsed = false;
        }
        if (spacingNs > 0) {
            // Only losses in a row mean that there are far too many packets; on a path that just loses some, others arrive.
            spacingNs = 0;
            return;
        }
        if (isLossless && !isCollapsed) {
            // That packets pass here says nothing of another path.
            return;
        }
        acknowledged += (int) Math.min(count, MAXIMUM);
        if (packets < threshold) {
            packets = Math.min(MAXIMUM, packets + acknowledged);
            acknowledged = 0;
        } else if (acknowledged >= (packets < MINIMUM ? NARROW_STEP : packets)) {
            acknowledged = 0;
            packets = Math.min(MAXIMUM, packets + 1);
        }
    }

    /** A packet was lost: {@code una} is the oldest outstanding, {@code max} behind the newest. */
    void onLoss(long una, long max) {
        isCollapsed = false;
        if (isNarrow()) {
            shrink();
            recoveryEnd = max;
            return;
        }
        if (una < recoveryEnd) {
            return;
        }
        recoveryEnd = max;
        packets = Math.max(isQueueing ? 1 : MINIMUM, packets / 2);
        threshold = packets;
        acknowledged = 0;
    }

    /** Below what a window is after a first loss. */
    private void shrink() {
        if (packets == 1 && isQueueing) {
            spacingNs = Math.min(Math.min(longestSpacingNs, MOST_ROUND_TRIPS * roundTripNs),
                    2 * Math.max(roundTripNs, spacingNs));
        }
        packets = Math.max(1, Math.min(packets, MINIMUM) / 2);
        threshold = packets;
        acknowledged = 0;
    }

    /**
     * The peer is silent: a packet or two may be in flight until it answers. {@code max} is behind the newest. If it stays so,
     * what it is sent is lost again and again, or it stands still.
     */
    void onTimeout(long max) {
        recoveryEnd = max;
        acknowledged = 0;
        if (!isCollapsed) {
            isCollapsed = true;
            packetsBefore = packets;
            thresholdBefore = threshold;
            spacingBeforeNs = spacingNs;
            threshold = Math.max(MINIMUM, packets / 2);
            if (packets > COLLAPSED) {
                packets = COLLAPSED;
                return;
            }
        }
        int limit = threshold;
        shrink();
        threshold = limit;
    }

    /** {@return whether the window is smaller than a first loss makes it} Then each silence counts as a loss. */
    boolean isNarrow() {
        return packets < MINIMUM;
    }

    /** Nothing was lost after all: restores the window from before the silence. */
    void onLateAnswer() {
        if (isCollapsed) {
            isCollapsed = false;
            recoveryEnd = Long.MIN_VALUE;
            packets = packetsBefore;
            threshold = thresholdBefore;
            spacingNs = spacingBeforeNs;
        }
    }
}
