package io.rdma4j.protocol.rc;

/**
 * How many packets may be in flight: grows while acknowledgements come, shrinks when packets are lost.
 *
 * <p>The standard leaves congestion to the fabric; over an ordinary network, whose queues and socket
 * buffers drop, the sender has to find its rate. Slow start and additive increase as in RFC 5681, in
 * packets; at most one decrease per window.
 */
final class CongestionWindow {
    private static final int INITIAL = 32;
    private static final int MINIMUM = 4;
    private static final int MAXIMUM = 512;

    private int packets;
    private int threshold;
    private int acknowledged;
    private long recoveryEnd;

    CongestionWindow() {
        reset();
    }

    void reset() {
        packets = INITIAL;
        threshold = MAXIMUM;
        acknowledged = 0;
        recoveryEnd = Long.MIN_VALUE;
    }

    int packets() {
        return packets;
    }

    void onAcknowledged(long count) {
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
        if (una < recoveryEnd) {
            return;
        }
        recoveryEnd = max;
        packets = Math.max(MINIMUM, packets / 2);
        threshold = packets;
        acknowledged = 0;
    }
}
