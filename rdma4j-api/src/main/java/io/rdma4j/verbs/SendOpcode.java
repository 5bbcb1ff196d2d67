// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a send work request does.
 *
 * <p>C: {@code enum} {@index ibv_wr_opcode}, {@code enum} {@index ibv_qp_create_send_ops_flags}. Source: IBTA 9.2.1 (which transport service has an opcode for it), 10.8.
 * Each says which types of queue pair offer it; posting it on another is refused with EINVAL.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum SendOpcode {
    /**
     * Writes local memory into the peer's memory. RC, UC. C: {@index IBV_WR_RDMA_WRITE},
     * {@index IBV_QP_EX_WITH_RDMA_WRITE}.
     */
    RDMA_WRITE(0, WorkCompletionOpcode.RDMA_WRITE),
    /**
     * The same, and consumes a receive request of the peer to hand over 32 bits. RC, UC. C:
     * {@index IBV_WR_RDMA_WRITE_WITH_IMM}, {@index IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM}.
     */
    RDMA_WRITE_WITH_IMMEDIATE(1, WorkCompletionOpcode.RDMA_WRITE),
    /**
     * Sends a message into the peer's next receive request. RC, UC, UD. C: {@index IBV_WR_SEND},
     * {@index IBV_QP_EX_WITH_SEND}.
     */
    SEND(2, WorkCompletionOpcode.SEND),
    /**
     * The same with 32 bits beside the message. RC, UC, UD. C: {@index IBV_WR_SEND_WITH_IMM},
     * {@index IBV_QP_EX_WITH_SEND_WITH_IMM}.
     */
    SEND_WITH_IMMEDIATE(3, WorkCompletionOpcode.SEND),
    /**
     * Reads the peer's memory into local memory. RC. C: {@index IBV_WR_RDMA_READ},
     * {@index IBV_QP_EX_WITH_RDMA_READ}.
     */
    RDMA_READ(4, WorkCompletionOpcode.RDMA_READ),
    /**
     * Compares and swaps 8 bytes of the peer's memory; the old value comes back. RC. C:
     * {@index IBV_WR_ATOMIC_CMP_AND_SWP}, {@index IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP}.
     */
    ATOMIC_COMPARE_AND_SWAP(5, WorkCompletionOpcode.COMPARE_SWAP),
    /**
     * Adds to 8 bytes of the peer's memory; the old value comes back. RC. C:
     * {@index IBV_WR_ATOMIC_FETCH_AND_ADD}, {@index IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD}.
     */
    ATOMIC_FETCH_AND_ADD(6, WorkCompletionOpcode.FETCH_ADD),
    /**
     * Invalidates a memory window or region of this side. RC, UC. C: {@index IBV_WR_LOCAL_INV},
     * {@index IBV_QP_EX_WITH_LOCAL_INV}.
     */
    LOCAL_INVALIDATE(7, WorkCompletionOpcode.LOCAL_INVALIDATE),
    /** Binds a type 2 memory window. RC, UC. C: {@index IBV_WR_BIND_MW}, {@index IBV_QP_EX_WITH_BIND_MW}. */
    BIND_MEMORY_WINDOW(8, WorkCompletionOpcode.BIND_MEMORY_WINDOW),
    /**
     * Sends a message and invalidates a key of the peer. RC. The table of ibv_post_send(3) has it for UC
     * too, where the standard has no packet for it. C: {@index IBV_WR_SEND_WITH_INV},
     * {@index IBV_QP_EX_WITH_SEND_WITH_INV}.
     */
    SEND_WITH_INVALIDATE(9, WorkCompletionOpcode.SEND),
    /**
     * Makes earlier writes visible or persistent at the peer. RC. C: {@index IBV_WR_FLUSH},
     * {@index IBV_QP_EX_WITH_FLUSH}.
     */
    FLUSH(14, WorkCompletionOpcode.FLUSH),
    /**
     * Writes 8 bytes of the peer's memory atomically. RC. C: {@index IBV_WR_ATOMIC_WRITE},
     * {@index IBV_QP_EX_WITH_ATOMIC_WRITE}.
     */
    ATOMIC_WRITE(15, WorkCompletionOpcode.ATOMIC_WRITE);

    private final int code;
    private final WorkCompletionOpcode completionOpcode;

    SendOpcode(int code, WorkCompletionOpcode completionOpcode) {
        this.code = code;
        this.completionOpcode = completionOpcode;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the opcode of the work completion that reports such a request} */
    public WorkCompletionOpcode completionOpcode() {
        return completionOpcode;
    }
}
