// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What else is known of a work completion.
 *
 * <p>C: {@code enum} {@index ibv_wc_flags}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum WorkCompletionFlag {
    /**
     * The first 40 bytes of the receive buffer hold the global route header (UD), as {@code struct} {@index ibv_grh} lays them
     * out. C: {@index IBV_WC_GRH}.
     */
    GRH(1 << 0),
    /** {@link WorkCompletion#immediate()} is valid. C: {@index IBV_WC_WITH_IMM}. */
    WITH_IMMEDIATE(1 << 1),
    /** The checksums of a raw packet are right. C: {@index IBV_WC_IP_CSUM_OK}. */
    @Experimental
    IP_CHECKSUM_OK(1 << 2),
    /** {@link WorkCompletion#invalidatedRkey()} is valid. C: {@index IBV_WC_WITH_INV}. */
    WITH_INVALIDATE(1 << 3),
    /** Tag matching needs a sync. C: {@index IBV_WC_TM_SYNC_REQ}. */
    @Experimental
    TM_SYNC_REQUIRED(1 << 4),
    /** A tag matched. C: {@index IBV_WC_TM_MATCH}. */
    @Experimental
    TM_MATCH(1 << 5),
    /** Tag matching data is valid. C: {@index IBV_WC_TM_DATA_VALID}. */
    @Experimental
    TM_DATA_VALID(1 << 6);

    private final int bit;

    WorkCompletionFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
