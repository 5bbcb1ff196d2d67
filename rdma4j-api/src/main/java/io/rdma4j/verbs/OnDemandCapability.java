package io.rdma4j.verbs;

/**
 * What a region whose pages are brought in on demand may be used for.
 *
 * <p>C: {@code enum ibv_odp_transport_cap_bits}.
 */
public enum OnDemandCapability {
    /** To send from. */
    SEND(1 << 0),
    /** To receive into. */
    RECEIVE(1 << 1),
    /** For WRITEs. */
    WRITE(1 << 2),
    /** For READs. */
    READ(1 << 3),
    /** For atomics. */
    ATOMIC(1 << 4),
    /** To receive into by a shared receive queue. */
    SHARED_RECEIVE(1 << 5),
    /** For FLUSH. */
    FLUSH(1 << 6),
    /** For atomic writes. */
    ATOMIC_WRITE(1 << 7);

    private final int bit;

    OnDemandCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
