package io.rdma4j.verbs;

/**
 * What a work completion reports.
 *
 * <p>C: {@code enum ibv_wc_opcode}.
 */
public enum WorkCompletionOpcode {
    /** A SEND of any kind. */
    SEND(0),
    /** A WRITE, with or without immediate. */
    RDMA_WRITE(1),
    /** A READ. */
    RDMA_READ(2),
    /** A compare and swap. */
    COMPARE_SWAP(3),
    /** A fetch and add. */
    FETCH_ADD(4),
    /** A memory window was bound. */
    BIND_MEMORY_WINDOW(5),
    /** A local key was invalidated. */
    LOCAL_INVALIDATE(6),
    /** A segmented TCP message. */
    TSO(7),
    /** A FLUSH. */
    FLUSH(8),
    /** An atomic write. */
    ATOMIC_WRITE(9),
    /** A message arrived in a receive request. */
    RECEIVE(128),
    /** A WRITE with immediate consumed a receive request. */
    RECEIVE_RDMA_WITH_IMMEDIATE(129),
    /** Tag matching: tag added. */
    TM_ADD(130),
    /** Tag matching: tag removed. */
    TM_DELETE(131),
    /** Tag matching: synchronized. */
    TM_SYNC(132),
    /** Tag matching: message received. */
    TM_RECEIVE(133),
    /** Tag matching: no tag matched. */
    TM_NO_TAG(134),
    /** The driver's own. */
    DRIVER1(135),
    /** The driver's own. */
    DRIVER2(136),
    /** The driver's own. */
    DRIVER3(137);

    private final int code;

    WorkCompletionOpcode(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
