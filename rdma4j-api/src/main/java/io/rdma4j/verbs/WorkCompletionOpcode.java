// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a work completion reports.
 *
 * <p>C: {@code enum} {@index ibv_wc_opcode}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum WorkCompletionOpcode {
    /** A SEND of any kind. C: {@index IBV_WC_SEND}. */
    SEND(0),
    /** A WRITE, with or without immediate. C: {@index IBV_WC_RDMA_WRITE}. */
    RDMA_WRITE(1),
    /** A READ. C: {@index IBV_WC_RDMA_READ}. */
    RDMA_READ(2),
    /** A compare and swap. C: {@index IBV_WC_COMP_SWAP}. */
    COMPARE_SWAP(3),
    /** A fetch and add. C: {@index IBV_WC_FETCH_ADD}. */
    FETCH_ADD(4),
    /** A memory window was bound. C: {@index IBV_WC_BIND_MW}. */
    BIND_MEMORY_WINDOW(5),
    /** A local key was invalidated. C: {@index IBV_WC_LOCAL_INV}. */
    LOCAL_INVALIDATE(6),
    /** A FLUSH. C: {@index IBV_WC_FLUSH}. */
    FLUSH(8),
    /** An atomic write. C: {@index IBV_WC_ATOMIC_WRITE}. */
    ATOMIC_WRITE(9),
    /** A message arrived in a receive request. C: {@index IBV_WC_RECV}. */
    RECEIVE(128),
    /** A WRITE with immediate consumed a receive request. C: {@index IBV_WC_RECV_RDMA_WITH_IMM}. */
    RECEIVE_RDMA_WITH_IMMEDIATE(129),
    /** Tag matching: tag added. C: {@index IBV_WC_TM_ADD}. */
    @Experimental
    TM_ADD(130),
    /** Tag matching: tag removed. C: {@index IBV_WC_TM_DEL}. */
    @Experimental
    TM_DELETE(131),
    /** Tag matching: synchronized. C: {@index IBV_WC_TM_SYNC}. */
    @Experimental
    TM_SYNC(132),
    /** Tag matching: message received. C: {@index IBV_WC_TM_RECV}. */
    @Experimental
    TM_RECEIVE(133),
    /** Tag matching: no tag matched. C: {@index IBV_WC_TM_NO_TAG}. */
    @Experimental
    TM_NO_TAG(134),
    /** The driver's own. C: {@index IBV_WC_DRIVER2}. */
    @Experimental
    DRIVER2(136),
    /** The driver's own. C: {@index IBV_WC_DRIVER3}. */
    @Experimental
    DRIVER3(137),
    /** One that this version does not know; {@link WorkCompletion#opcodeCode} has its number. */
    UNKNOWN(-1);

    private final int code;

    WorkCompletionOpcode(int code) {
        this.code = code;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static WorkCompletionOpcode ofCode(int code) {
        for (WorkCompletionOpcode each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        return UNKNOWN;
    }

    /** {@return the number verbs.h gives this, -1 for {@link #UNKNOWN}} */
    public int code() {
        return code;
    }
}
