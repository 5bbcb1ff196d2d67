// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

/**
 * An acknowledgement that a packet through memory carries, as one number: what an ACKNOWLEDGE packet would say, to the same
 * queue pair on the same path.
 *
 * <pre>
 * bits 0 to 23 the PSN, 24 to 31 the syndrome, 32 to 55 the message sequence number; the others are 0
 * </pre>
 */
public final class Piggyback {
    private static final int SYNDROME_SHIFT = 24;
    private static final int MESSAGE_SHIFT = 32;

    private Piggyback() {}

    static long of(int psn, int syndrome, int messageNumber) {
        return (long) messageNumber << MESSAGE_SHIFT | (long) (syndrome & 0xff) << SYNDROME_SHIFT
                | psn;
    }

    /** {@return the PSN, 24 bits} */
    public static int psn(long piggyback) {
        return (int) piggyback & Psn.MASK;
    }

    /** {@return the syndrome} */
    public static int syndrome(long piggyback) {
        return (int) piggyback >>> SYNDROME_SHIFT;
    }

    /** {@return the message sequence number, 24 bits} */
    public static int messageNumber(long piggyback) {
        return (int) (piggyback >>> MESSAGE_SHIFT) & Psn.MASK;
    }
}
