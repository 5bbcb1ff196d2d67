// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.roce.wire.Psn;

/**
 * Decides which packets of an unreliable connection are new. Accepted packets have ascending sequence numbers, so that
 * nothing arrives twice or out of order.
 *
 * <pre>
 *  far          | copies and late ones | expected   near ahead | far
 *  ─────────────┼──────────────────────┼───────────────────────┼──────────
 *               expected - RECENT      expected                expected + NEAR
 * </pre>
 *
 * A far packet is accepted only after {@link #NEEDED} of them have come in ascending order and no near one, so that a
 * packet with a damaged or forged number does not make later ones look old. A near one may do so for at most {@link
 * #NEAR} packets.
 */
final class UcSequence {
    /** How far a packet may be ahead of the expected one; those between are then probably lost. */
    static final int NEAR = 1024;
    /** Copies and late packets are at most this old; a network holds back fewer. */
    static final int RECENT = 1 << 22;
    /** How many far packets show that the sender continues at their numbers. */
    static final int NEEDED = 4;

    /** What to do with a packet. */
    enum Place {
        /** It follows the last accepted one. */
        NEXT,
        /** It is accepted, but packets between are missing. */
        AHEAD,
        /** A copy, or late: to drop. */
        OLD,
        /** Its origin is unknown: to drop. */
        STRAY
    }

    private long expected;
    private long lastStray;
    private int strays;

    void start(long psn) {
        expected = psn;
        strays = 0;
    }

    /** {@return the number of the next packet} */
    long expected() {
        return expected;
    }

    /** {@return what to do with a packet; if it is accepted, the next number becomes the expected one} */
    Place place(int wirePsn) {
        long psn = Psn.unwrap(wirePsn, expected);
        if (psn < expected - RECENT) {
            // Too old to be a copy: the numbers have wrapped around.
            psn += Psn.MASK + 1L;
        }
        if (psn < expected) {
            return Place.OLD;
        }
        if (psn > expected + NEAR && !isConfirmed(psn)) {
            return Place.STRAY;
        }
        Place place = psn == expected ? Place.NEXT : Place.AHEAD;
        start(psn + 1);
        return place;
    }

    /** {@return whether enough packets have come there} Copies and late ones confirm nothing, and contradict nothing. */
    private boolean isConfirmed(long psn) {
        boolean isThere = strays > 0 && Math.abs(psn - lastStray) <= NEAR;
        if (!isThere) {
            strays = 1;
            lastStray = psn;
        } else if (psn > lastStray) {
            strays++;
            lastStray = psn;
        }
        return strays == NEEDED;
    }
}
