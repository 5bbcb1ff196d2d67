// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Set;

/**
 * How far a FLUSH brings earlier writes.
 *
 * <p>C: {@code enum} {@index ibv_placement_type}. Source: IBTA annex A19.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum FlushPlacement {
    /** Every observer sees them. C: {@index IBV_FLUSH_GLOBAL}. */
    GLOBAL(1 << 0),
    /**
     * They survive a loss of power: mapped memory is written to its file before the peer answers. It carries out nothing
     * else of this connection meanwhile, so the time-out and retries of this side must cover a disk. C:
     * {@index IBV_FLUSH_PERSISTENT}.
     */
    PERSISTENT(1 << 1);

    private final int bit;

    FlushPlacement(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this, which is that on the wire} */
    public int bit() {
        return bit;
    }

    /**
     * {@return the bits of a set}
     *
     * @param placements one or more
     */
    public static int bits(Set<FlushPlacement> placements) {
        int bits = 0;
        for (FlushPlacement placement : placements) {
            bits |= placement.bit;
        }
        return bits;
    }
}
