package io.rdma4j.verbs;

/**
 * What a send work request does.
 *
 * <p>C: {@code enum ibv_wr_opcode}. Source: IBTA 9.2.1 (which transport service has an opcode for it), 10.8.
 * Each says which types of queue pair offer it; posting it on another is refused with EINVAL. All in one
 * table: {@code docs/operations.md}.
 */
public enum SendOpcode {
    /** Writes local memory into the peer's memory. RC, UC. */
    RDMA_WRITE(0, WorkCompletionOpcode.RDMA_WRITE),
    /** The same, and consumes a receive request of the peer to hand over 32 bits. RC, UC. */
    RDMA_WRITE_WITH_IMMEDIATE(1, WorkCompletionOpcode.RDMA_WRITE),
    /** Sends a message into the peer's next receive request. RC, UC, UD. */
    SEND(2, WorkCompletionOpcode.SEND),
    /** The same with 32 bits beside the message. RC, UC, UD. */
    SEND_WITH_IMMEDIATE(3, WorkCompletionOpcode.SEND),
    /** Reads the peer's memory into local memory. RC. */
    RDMA_READ(4, WorkCompletionOpcode.RDMA_READ),
    /** Compares and swaps 8 bytes of the peer's memory; the old value comes back. RC. */
    ATOMIC_COMPARE_AND_SWAP(5, WorkCompletionOpcode.COMPARE_SWAP),
    /** Adds to 8 bytes of the peer's memory; the old value comes back. RC. */
    ATOMIC_FETCH_AND_ADD(6, WorkCompletionOpcode.FETCH_ADD),
    /** Invalidates a memory window or region of this side. RC, UC. */
    LOCAL_INVALIDATE(7, WorkCompletionOpcode.LOCAL_INVALIDATE),
    /** Binds a type 2 memory window. RC, UC. */
    BIND_MEMORY_WINDOW(8, WorkCompletionOpcode.BIND_MEMORY_WINDOW),
    /**
     * Sends a message and invalidates a key of the peer. RC. The table of ibv_post_send(3) has it for UC
     * too, where the standard has no packet for it.
     */
    SEND_WITH_INVALIDATE(9, WorkCompletionOpcode.SEND),
    /**
     * Has a card cut a TCP stream into packets: raw packets, and UD for IP over InfiniBand. A software device
     * refuses it with EOPNOTSUPP.
     */
    TSO(10, WorkCompletionOpcode.TSO),
    /** An operation of the driver's own; EOPNOTSUPP where there is none. */
    DRIVER1(11, WorkCompletionOpcode.DRIVER1),
    /** Makes earlier writes visible or persistent at the peer. RC. */
    FLUSH(14, WorkCompletionOpcode.FLUSH),
    /** Writes 8 bytes of the peer's memory atomically. RC. */
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
