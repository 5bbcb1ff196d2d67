// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

/**
 * Packet sequence numbers: 24 bits on the wire, 64 bits inside.
 *
 * <p>The protocol counts packets of a queue pair in {@code long}s that never wrap; only here are they
 * folded into 24 bits and back. Source: IBTA 9.7.1.
 */
public final class Psn {
    /** The bits of a PSN, and of a message sequence number. */
    public static final int MASK = 0xff_ffff;

    private static final int HALF = 1 << 23;

    private Psn() {}

    /** {@return the 24 bits that stand for a count} */
    public static int wrap(long count) {
        return (int) count & MASK;
    }

    /** {@return the count nearest to {@code reference} that 24 bits stand for} */
    public static long unwrap(int wire, long reference) {
        // [IBTA 9.7.1-1]
        int distance = (wire - (int) reference) & MASK;
        return reference + (distance < HALF ? distance : distance - (MASK + 1));
    }
}
