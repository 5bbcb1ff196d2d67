// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * A field of completions that an extended completion queue fills on request.
 *
 * <p>C: {@code enum} {@index ibv_create_cq_wc_flags}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum CompletionField {
    /** {@link WorkCompletion#byteLength}. C: {@index IBV_WC_EX_WITH_BYTE_LEN}. */
    BYTE_LENGTH(1 << 0),
    /** {@link WorkCompletion#immediate}. C: {@index IBV_WC_EX_WITH_IMM}. */
    IMMEDIATE(1 << 1),
    /** {@link WorkCompletion#queuePairNumber}. C: {@index IBV_WC_EX_WITH_QP_NUM}. */
    QUEUE_PAIR_NUMBER(1 << 2),
    /** {@link WorkCompletion#sourceQueuePairNumber}. C: {@index IBV_WC_EX_WITH_SRC_QP}. */
    SOURCE_QUEUE_PAIR(1 << 3),
    /** {@link WorkCompletion#sourceLid}. C: {@index IBV_WC_EX_WITH_SLID}. */
    SOURCE_LID(1 << 4),
    /** {@link WorkCompletion#serviceLevel}. C: {@index IBV_WC_EX_WITH_SL}. */
    SERVICE_LEVEL(1 << 5),
    /** {@link WorkCompletion#destinationPathBits}. C: {@index IBV_WC_EX_WITH_DLID_PATH_BITS}. */
    DESTINATION_PATH_BITS(1 << 6),
    /** {@link WorkCompletion#completionTimestamp}. C: {@index IBV_WC_EX_WITH_COMPLETION_TIMESTAMP}. */
    COMPLETION_TIMESTAMP(1 << 7),
    /**
     * {@link WorkCompletion#completionWallclockNs}. C: {@index IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK}.
     */
    COMPLETION_WALLCLOCK(1 << 11);

    private final int bit;

    CompletionField(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
