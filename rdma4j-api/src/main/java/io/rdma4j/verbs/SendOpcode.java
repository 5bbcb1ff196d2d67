package io.rdma4j.verbs;

/**
 * What a send work request does.
 *
 * <p>C: {@code enum ibv_wr_opcode}.
 */
public enum SendOpcode {
    /** Writes local memory into the peer's memory. */
    RDMA_WRITE(0, WorkCompletionOpcode.RDMA_WRITE),
    /** The same, and consumes a receive request of the peer to hand over 32 bits. */
    RDMA_WRITE_WITH_IMMEDIATE(1, WorkCompletionOpcode.RDMA_WRITE),
    /** Sends a message into the peer's next receive request. */
    SEND(2, WorkCompletionOpcode.SEND),
    /** The same with 32 bits beside the message. */
    SEND_WITH_IMMEDIATE(3, WorkCompletionOpcode.SEND),
    /** Reads the peer's memory into local memory. */
    RDMA_READ(4, WorkCompletionOpcode.RDMA_READ),
    /** Compares and swaps 8 bytes of the peer's memory; the old value comes back. */
    ATOMIC_COMPARE_AND_SWAP(5, WorkCompletionOpcode.COMPARE_SWAP),
    /** Adds to 8 bytes of the peer's memory; the old value comes back. */
    ATOMIC_FETCH_AND_ADD(6, WorkCompletionOpcode.FETCH_ADD),
    /** Invalidates a memory window or region of this side. */
    LOCAL_INVALIDATE(7, WorkCompletionOpcode.LOCAL_INVALIDATE),
    /** Binds a type 2 memory window. */
    BIND_MEMORY_WINDOW(8, WorkCompletionOpcode.BIND_MEMORY_WINDOW),
    /** Sends a message and invalidates a key of the peer. */
    SEND_WITH_INVALIDATE(9, WorkCompletionOpcode.SEND),
    /** Segments a TCP message; raw packets only. */
    TSO(10, WorkCompletionOpcode.TSO),
    /** An operation of the driver's own. */
    DRIVER1(11, WorkCompletionOpcode.DRIVER1),
    /** Makes earlier writes visible or persistent at the peer. */
    FLUSH(14, WorkCompletionOpcode.FLUSH),
    /** Writes 8 bytes of the peer's memory atomically. */
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
