// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

/**
 * The syndrome byte of an acknowledgement header: what kind of acknowledgement it is.
 *
 * <p>Source: IBTA 9.7.5.1.4 and tables 45 to 47.
 */
public final class Syndrome {
    /** The credit field's value for no end-to-end flow control. */
    public static final int UNLIMITED_CREDITS = 0x1f;
    /** A packet is missing. */
    public static final int NAK_PSN_SEQUENCE_ERROR = 0x60;
    /** The request is not valid. */
    public static final int NAK_INVALID_REQUEST = 0x61;
    /** The access is not allowed. */
    public static final int NAK_REMOTE_ACCESS_ERROR = 0x62;
    /** The responder could not complete it. */
    public static final int NAK_REMOTE_OPERATIONAL_ERROR = 0x63;
    /** Reliable datagrams only. */
    public static final int NAK_INVALID_RD_REQUEST = 0x64;

    /** The kind of a syndrome. */
    public enum Kind {
        /** Positive. */
        ACK,
        /** No receive request is posted. */
        RNR_NAK,
        /** Reserved bits are set. */
        RESERVED,
        /** Negative. */
        NAK
    }

    private static final Kind[] KINDS = Kind.values();

    /** Credits that a code stands for, IBTA table 46. */
    private static final int[] CREDITS = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
        256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
        32768};

    private static final int MOST_CREDITS = CREDITS[CREDITS.length - 1];

    /** Waits in units of 10 us that a receiver-not-ready code stands for, IBTA table 45. */
    private static final int[] RNR_10_US = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96,
        128,
        192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
        32768, 49152};

    private Syndrome() {}

    /** {@return the kind of a syndrome} */
    public static Kind kind(int syndrome) {
        return KINDS[syndrome >>> 5 & 3];
    }

    /** {@return a positive syndrome that offers at most that many receive requests} */
    public static int ack(int receives) {
        if (receives < 4) {
            return receives;
        }
        // From 4 on there are two codes for each power of two: itself, and one and a half of it.
        int power = Math.min(receives, MOST_CREDITS);
        int exponent = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(power);
        return 2 * exponent + ((power >>> (exponent - 1)) & 1);
    }

    /** {@return a positive syndrome without flow control} */
    public static int ackUnlimited() {
        return UNLIMITED_CREDITS;
    }

    /** {@return the syndrome that asks to wait as a timer code from 0 to 31 says} */
    public static int rnr(int timer) {
        return 0x20 | (timer & 0x1f);
    }

    /** {@return the receive requests a positive syndrome offers, or -1 for no limit} */
    public static int credits(int syndrome) {
        int code = syndrome & 0x1f;
        return code == UNLIMITED_CREDITS ? -1 : CREDITS[code];
    }

    /** {@return the wait that a receiver-not-ready syndrome, or its timer code, asks for} */
    public static long rnrNs(int syndrome) {
        return RNR_10_US[syndrome & 0x1f] * 10_000L;
    }
}
