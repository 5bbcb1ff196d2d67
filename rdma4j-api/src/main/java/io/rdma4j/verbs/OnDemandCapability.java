// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a region whose pages are brought in on demand may be used for.
 *
 * <p>C: {@code enum} {@index ibv_odp_transport_cap_bits}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum OnDemandCapability {
    /** To send from. C: {@index IBV_ODP_SUPPORT_SEND}. */
    SEND(1 << 0),
    /** To receive into. C: {@index IBV_ODP_SUPPORT_RECV}. */
    RECEIVE(1 << 1),
    /** For WRITEs. C: {@index IBV_ODP_SUPPORT_WRITE}. */
    WRITE(1 << 2),
    /** For READs. C: {@index IBV_ODP_SUPPORT_READ}. */
    READ(1 << 3),
    /** For atomics. C: {@index IBV_ODP_SUPPORT_ATOMIC}. */
    ATOMIC(1 << 4),
    /** To receive into by a shared receive queue. C: {@index IBV_ODP_SUPPORT_SRQ_RECV}. */
    SHARED_RECEIVE(1 << 5),
    /** For FLUSH. C: {@index IBV_ODP_SUPPORT_FLUSH}. */
    FLUSH(1 << 6),
    /** For atomic writes. C: {@index IBV_ODP_SUPPORT_ATOMIC_WRITE}. */
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
