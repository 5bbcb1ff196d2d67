package io.rdma4j.verbs;

/**
 * How a send work request is carried out.
 *
 * <p>C: {@code enum ibv_send_flags}. Which operation of which type of queue pair takes which flag stands in
 * {@code docs/operations.md} for the software NIC.
 */
public enum SendFlag {
    /**
     * Start only when all earlier READs and atomics of this queue are complete. For type RC alone: other
     * types have none of them, and posting is refused with EINVAL. C: {@code IBV_SEND_FENCE}.
     */
    FENCE(1 << 0),
    /** Report success as a work completion; failures are always reported. C: {@code IBV_SEND_SIGNALED}. */
    SIGNALED(1 << 1),
    /**
     * Wake the peer if its completion queue is armed for solicited completions. It does nothing with an
     * operation that completes none of the peer's receives. C: {@code IBV_SEND_SOLICITED}.
     */
    SOLICITED(1 << 2),
    /**
     * Copy the payload when the request is posted; its memory may be reused at once. For operations that
     * carry a payload to the peer; a READ or atomic, whose element takes the result, is refused with EINVAL. C:
     * {@code IBV_SEND_INLINE}.
     */
    INLINE(1 << 3),
    /** Let the device fill in IP and TCP checksums; raw packets only. C: {@code IBV_SEND_IP_CSUM}. */
    IP_CHECKSUM(1 << 4);

    private final int bit;

    SendFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
