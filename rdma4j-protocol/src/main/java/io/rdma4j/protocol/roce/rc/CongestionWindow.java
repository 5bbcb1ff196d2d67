package io.rdma4j.protocol.roce.rc;

/**
 * How many packets may be in flight: grows while acknowledgements come, shrinks when packets are lost, collapses
 * when the peer is silent.
 *
 * <p>The standard leaves congestion to the fabric; over an ordinary network, whose queues and socket
 * buffers drop, the sender has to find its rate. Slow start and additive increase as in RFC 5681, in
 * packets; at most one decrease per window. A collapse is undone when it turns out that nothing was lost and the
 * acknowledgements were merely late (RFC 4015, RFC 5682).
 */
final class CongestionWindow {
    private static final int INITIAL = 32;
    private static final int MINIMUM = 4;
    private static final int MAXIMUM = 512;
    private static final int COLLAPSED = 2;

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

    CongestionWindow() {
        reset();
    }

    void reset() {
        packets = INITIAL;
        threshold = MAXIMUM;
        acknowledged = 0;
        recoveryEnd = Long.MIN_VALUE;
        isCollapsed = false;
    }

    /** {@return how many packets may be in flight} */
    int packets() {
        return isLossless && !isCollapsed ? LOSSLESS : packets;
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
        acknowledged += (int) Math.min(count, MAXIMUM);
        if (packets < threshold) {
            packets = Math.min(MAXIMUM, packets + acknowledged);
            acknowledged = 0;
        } else if (acknowledged >= packets) {
            acknowledged = 0;
            packets = Math.min(MAXIMUM, packets + 1);
        }
    }

    /** A packet was lost: {@code una} is the oldest outstanding, {@code max} behind the newest. */
    void onLoss(long una, long max) {
        isCollapsed = false;
        if (una < recoveryEnd) {
            return;
        }
        recoveryEnd = max;
        packets = Math.max(MINIMUM, packets / 2);
        threshold = packets;
        acknowledged = 0;
    }

    /** The peer is silent: a packet or two may be in flight until it answers. {@code max} is behind the newest. */
    void onTimeout(long max) {
        if (!isCollapsed) {
            isCollapsed = true;
            packetsBefore = packets;
            thresholdBefore = threshold;
            threshold = Math.max(MINIMUM, packets / 2);
        }
        recoveryEnd = max;
        packets = COLLAPSED;
        acknowledged = 0;
    }

    /** Nothing was lost after all: restores the window from before the silence. */
    void onLateAnswer() {
        if (isCollapsed) {
            isCollapsed = false;
            recoveryEnd = Long.MIN_VALUE;
            packets = packetsBefore;
            threshold = thresholdBefore;
        }
    }
}
