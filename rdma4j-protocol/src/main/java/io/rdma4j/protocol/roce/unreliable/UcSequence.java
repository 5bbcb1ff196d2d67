package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.roce.wire.Psn;

/**
 * Which packets of an unreliable connection are new. What it takes has ever higher sequence numbers, so that nothing
 * arrives twice or out of order.
 *
 * <pre>
 *  far          | copies and late ones | expected   near ahead | far
 *  ─────────────┼──────────────────────┼───────────────────────┼──────────
 *               expected - RECENT      expected                expected + NEAR
 * </pre>
 *
 * A packet that is far off is taken only when {@link #NEEDED} of them have come in ascending order and none that was
 * near, so that one with a damaged or forged number does not make those that follow look old. One that is near may do
 * so for at most {@link #NEAR} packets.
 */
final class UcSequence {
    /** A packet may be this far ahead of the next, for those between are probably lost. */
    static final int NEAR = 1024;
    /** Copies and late packets are at most this old; a network holds back fewer. */
    static final int RECENT = 1 << 22;
    /** So many packets that are far off show that the sender has gone on there. */
    static final int NEEDED = 4;

    /** What to do with a packet. */
    enum Place {
        /** It follows the last one that was taken. */
        NEXT,
        /** It is taken, but packets between are missing. */
        AHEAD,
        /** A copy, or late: to drop. */
        OLD,
        /** Nobody knows how it comes here: to drop. */
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

    /** {@return what to do with a packet of a number; if it is taken, the next one is expected behind it} */
    Place place(int wirePsn) {
        long psn = Psn.unwrap(wirePsn, expected);
        if (psn < expected - RECENT) {
            // Too old to be a copy: the numbers have gone round.
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
