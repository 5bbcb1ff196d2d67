// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The transport service of a queue pair.
 *
 * <p>C: {@code enum} {@index ibv_qp_type}. Source: IBTA 9.6.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum QueuePairType {
    /** Reliable connection. C: {@index IBV_QPT_RC}. */
    RC(2),
    /** Unreliable connection. C: {@index IBV_QPT_UC}. */
    UC(3),
    /** Unreliable datagram. C: {@index IBV_QPT_UD}. */
    UD(4),
    /** Raw Ethernet frames; native devices only. C: {@index IBV_QPT_RAW_PACKET}. */
    @Experimental
    RAW_PACKET(8),
    /** Sending side of an extended reliable connection; native devices only. C: {@index IBV_QPT_XRC_SEND}. */
    @Experimental
    XRC_SEND(9),
    /** Receiving side of an extended reliable connection; native devices only. C: {@index IBV_QPT_XRC_RECV}. */
    @Experimental
    XRC_RECEIVE(10),
    /** A type of the driver's own; native devices only. C: {@index IBV_QPT_DRIVER}. */
    @Experimental
    DRIVER(255);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
