package io.rdma4j.verbs;

import java.util.Set;

/**
 * What may be done to registered memory, or through a queue pair.
 *
 * <p>C: {@code enum ibv_access_flags}.
 */
public enum AccessFlag {
    /** The device may write it for its own side: receives, READ results. */
    LOCAL_WRITE(1 << 0),
    /** The peer may write it; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(1 << 1),
    /** The peer may read it. */
    REMOTE_READ(1 << 2),
    /** The peer may run atomic operations on it; needs {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(1 << 3),
    /** Memory windows may be bound to it. */
    MW_BIND(1 << 4),
    /** Its addresses start at 0. */
    ZERO_BASED(1 << 5),
    /** Pages are brought in when used. */
    ON_DEMAND(1 << 6),
    /** It consists of huge pages. */
    HUGETLB(1 << 7),
    /** The peer may flush it to global visibility. */
    FLUSH_GLOBAL(1 << 8),
    /** The peer may flush it to persistence. */
    FLUSH_PERSISTENT(1 << 9),
    /** Writes to it may be reordered; always allowed, never needed. */
    RELAXED_ORDERING(1 << 20);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }

    /** {@return the bits of a set} */
    public static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        for (AccessFlag flag : flags) {
            bits |= flag.bit;
        }
        return bits;
    }
}
