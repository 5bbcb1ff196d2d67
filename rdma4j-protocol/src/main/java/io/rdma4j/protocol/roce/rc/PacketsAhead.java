package io.rdma4j.protocol.roce.rc;

import java.util.Arrays;

/** Which packets came ahead of one that is missing, as far as it matters: so many as a peer may send at once. */
final class PacketsAhead {
    private static final int WORDS = 16;
    private static final int MOST = WORDS * Long.SIZE;

    private final long[] seen = new long[WORDS];

    void clear() {
        Arrays.fill(seen, 0);
    }

    /** {@return whether a packet came for the first time} {@code distance} is how far it is ahead, 1 at least. */
    boolean add(long distance) {
        if (distance >= MOST) {
            return true;
        }
        long bit = 1L << distance;
        int word = (int) (distance / Long.SIZE);
        boolean isNew = (seen[word] & bit) == 0;
        seen[word] |= bit;
        return isNew;
    }
}
