// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.EnumSet;
import java.util.Set;

/**
 * The access rights of registered memory, and what a peer may do through a queue pair.
 *
 * <p>C: {@code enum} {@index ibv_access_flags}. {@link #ON_DEMAND}, {@link #HUGETLB} and {@link #RELAXED_ORDERING} are
 * hints: they neither grant nor remove a right, and a device that cannot use a hint accepts and ignores it.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum AccessFlag {
    /** The device may write it for its own side: receives, READ results. C: {@index IBV_ACCESS_LOCAL_WRITE}. */
    LOCAL_WRITE(1 << 0),
    /** The peer may write it; needs {@link #LOCAL_WRITE}. C: {@index IBV_ACCESS_REMOTE_WRITE}. */
    REMOTE_WRITE(1 << 1),
    /** The peer may read it. C: {@index IBV_ACCESS_REMOTE_READ}. */
    REMOTE_READ(1 << 2),
    /**
     * The peer may run atomic operations on it; needs {@link #LOCAL_WRITE}. C:
     * {@index IBV_ACCESS_REMOTE_ATOMIC}.
     */
    REMOTE_ATOMIC(1 << 3),
    /** Memory windows may be bound to it. C: {@index IBV_ACCESS_MW_BIND}. */
    MW_BIND(1 << 4),
    /** Its addresses start at 0. C: {@index IBV_ACCESS_ZERO_BASED}. */
    ZERO_BASED(1 << 5),
    /**
     * A hint: its pages need not be in memory before they are used. The software NIC never pins memory, so
     * all of its regions are on demand, with or without this flag. C: {@index IBV_ACCESS_ON_DEMAND}.
     */
    ON_DEMAND(1 << 6),
    /**
     * A hint: it consists of huge pages, so the device may describe it with fewer page table entries. The
     * software NIC needs one entry for a region of any length and does not check the size of its pages. C:
     * {@index IBV_ACCESS_HUGETLB}.
     */
    HUGETLB(1 << 7),
    /** The peer may flush it to global visibility. C: {@index IBV_ACCESS_FLUSH_GLOBAL}. */
    FLUSH_GLOBAL(1 << 8),
    /** The peer may flush it to persistence. C: {@index IBV_ACCESS_FLUSH_PERSISTENT}. */
    FLUSH_PERSISTENT(1 << 9),
    /**
     * A hint: writes to it may become visible in another order than they arrived. The software NIC always writes in the
     * order of arrival. C: {@index IBV_ACCESS_RELAXED_ORDERING}.
     */
    RELAXED_ORDERING(1 << 20);

    /**
     * The lowest bit of an optional flag. A device ignores an optional flag that it does not know, and
     * refuses another. C: {@index IBV_ACCESS_OPTIONAL_FIRST}.
     */
    public static final int OPTIONAL_FIRST = 1 << 20;
    /** All bits of optional flags, 20 to 29. C: {@index IBV_ACCESS_OPTIONAL_RANGE}. */
    public static final int OPTIONAL_RANGE = 0x3ff0_0000;

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }

    /** {@return whether a device that does not know it ignores it} */
    public boolean isOptional() {
        return (bit & OPTIONAL_RANGE) != 0;
    }

    /**
     * {@return the flags of bits as verbs.h has them} Optional bits without a name are ignored, as a device
     * ignores them.
     *
     * @param bits as {@code enum ibv_access_flags} has them
     * @throws IllegalArgumentException naming a bit that is neither known nor optional
     */
    public static Set<AccessFlag> ofBits(int bits) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        int unknown = bits & ~OPTIONAL_RANGE;
        for (AccessFlag flag : values()) {
            if ((bits & flag.bit) != 0) {
                flags.add(flag);
                unknown &= ~flag.bit;
            }
        }
        if (unknown != 0) {
            throw new IllegalArgumentException(
                    String.format("access flag 0x%x is unknown; only those of 0x%x may be",
                            Integer.lowestOneBit(unknown), OPTIONAL_RANGE));
        }
        return flags;
    }

    /**
     * {@return the bits of a set}
     *
     * @param flags the flags to be combined
     */
    public static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        for (AccessFlag flag : flags) {
            bits |= flag.bit;
        }
        return bits;
    }
}
