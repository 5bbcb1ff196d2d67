// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * How a send work request is executed.
 *
 * <p>C: {@code enum} {@index ibv_send_flags}. Each constant says which operations and types of queue pairs take it;
 * others are refused with EINVAL.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum SendFlag {
    /**
     * Start only when all earlier READs and atomics of this queue are complete. Only for type RC: other
     * types have neither, and posting is refused with EINVAL. C: {@index IBV_SEND_FENCE}.
     */
    FENCE(1 << 0),
    /** Report success as a work completion; failures are always reported. C: {@index IBV_SEND_SIGNALED}. */
    SIGNALED(1 << 1),
    /**
     * Wake the peer if its completion queue is armed for solicited completions. It has no effect on an
     * operation that completes no receive of the peer. C: {@index IBV_SEND_SOLICITED}.
     */
    SOLICITED(1 << 2),
    /**
     * Copy the payload when the request is posted; its memory may be reused at once. Only for operations that
     * send a payload; a READ or atomic, whose element receives the result, is refused with EINVAL. C:
     * {@index IBV_SEND_INLINE}.
     */
    INLINE(1 << 3),
    /** Let the device fill in IP and TCP checksums; raw packets only. C: {@index IBV_SEND_IP_CSUM}. */
    @Experimental
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
