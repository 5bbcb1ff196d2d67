// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import java.util.Arrays;

/** The packets that arrived before a missing one, up to the number that a peer may send at once. */
final class PacketsAhead {
    private static final int WORDS = 16;
    private static final int MOST = WORDS * Long.SIZE;

    private final long[] seen = new long[WORDS];

    void clear() {
        Arrays.fill(seen, 0);
    }

    /**
     * {@return whether a packet arrived for the first time} {@code distance} is how far it is ahead, at least 1.
     */
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
