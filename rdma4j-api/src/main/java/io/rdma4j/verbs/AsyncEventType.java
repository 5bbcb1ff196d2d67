// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What happened to a device or one of its objects, outside any completion. {@link AsyncEvent} names the object or the
 * port. A device raises only the events of its transport; the software NIC has no subnet manager, for example.
 *
 * <p>C: {@code enum} {@index ibv_event_type}, {@index ibv_event_type_str}. Source: IBTA 11.6.3.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum AsyncEventType {
    /**
     * A completion queue overran: it was full when another completion came. That completion is lost, and the queue pairs
     * of the queue fail. Close them and the queue, and create the queue larger or poll more often. C:
     * {@index IBV_EVENT_CQ_ERR}.
     */
    CQ_ERROR(0, "CQ error"),
    /**
     * A queue pair failed and cannot report that in a completion, for example because its completion queue overran. It is
     * in state ERR. Close it, or reset it and bring it up again. C: {@index IBV_EVENT_QP_FATAL}.
     */
    QP_FATAL(1, "local work queue catastrophic error"),
    /**
     * The peer sent a request that this queue pair cannot execute and that no completion reports, such as a packet out of
     * turn. The queue pair is in state ERR. Check the sizes and limits on both sides, then connect anew. C:
     * {@index IBV_EVENT_QP_REQ_ERR}.
     */
    QP_REQUEST_ERROR(2, "invalid request local work queue error"),
    /**
     * The peer tried to access memory that it may not access. The queue pair is in state ERR. Check the rkey, the bounds
     * and the access flags of region and queue pair, then connect anew. C: {@index IBV_EVENT_QP_ACCESS_ERR}.
     */
    QP_ACCESS_ERROR(3, "local access violation work queue error"),
    /**
     * The first packet arrived on a queue pair in state RTR, so the peer is in RTS. A program that connects by hand may
     * move the queue pair to RTS. C: {@index IBV_EVENT_COMM_EST}.
     */
    COMMUNICATION_ESTABLISHED(4, "communication established"),
    /**
     * A queue pair in state SQD has completed the sends it had begun. Its attributes may be changed now. It comes only if
     * {@link QueuePairAttribute#ENABLE_SQD_ASYNC_NOTIFY} asked for it. C: {@index IBV_EVENT_SQ_DRAINED}.
     */
    SEND_QUEUE_DRAINED(5, "send queue drained"),
    /**
     * The connection moved to its alternate path and continues there. Load a new alternate path if there is one. C:
     * {@index IBV_EVENT_PATH_MIG}.
     */
    PATH_MIGRATED(6, "path migration succeeded"),
    /**
     * The connection could not move to its alternate path. It stays on the path it has; check the alternate one. C:
     * {@index IBV_EVENT_PATH_MIG_ERR}.
     */
    PATH_MIGRATION_ERROR(7, "path migration failed"),
    /**
     * The device failed or was removed. Nothing on it succeeds any more: close its objects and its context, then open
     * the device anew. C: {@index IBV_EVENT_DEVICE_FATAL}.
     */
    DEVICE_FATAL(8, "local catastrophic error"),
    /** The link of a port came up; the port can send and receive again. C: {@index IBV_EVENT_PORT_ACTIVE}. */
    PORT_ACTIVE(9, "port active"),
    /**
     * The link of a port went down. Connections stay until their retries are used up; wait for {@link #PORT_ACTIVE}. C:
     * {@index IBV_EVENT_PORT_ERR}.
     */
    PORT_ERROR(10, "port error"),
    /**
     * The LID of a port changed (InfiniBand). Query the port, and connect anew where the old LID was used. C:
     * {@index IBV_EVENT_LID_CHANGE}.
     */
    LID_CHANGE(11, "LID change"),
    /**
     * The P_Key table of a port changed. Look up the indexes of P_Keys again. C: {@index IBV_EVENT_PKEY_CHANGE}.
     */
    PKEY_CHANGE(12, "P_Key change"),
    /**
     * Another subnet manager took over (InfiniBand). Register services and multicast groups with it again. C:
     * {@index IBV_EVENT_SM_CHANGE}.
     */
    SM_CHANGE(13, "SM change"),
    /**
     * A shared receive queue failed and delivers no more requests. Close its queue pairs and the queue. C:
     * {@index IBV_EVENT_SRQ_ERR}.
     */
    SRQ_ERROR(14, "SRQ catastrophic error"),
    /**
     * A shared receive queue holds fewer requests than the limit that {@link SharedReceiveQueue#arm} set. Post more, and
     * arm it again: the event comes once for each call. C: {@index IBV_EVENT_SRQ_LIMIT_REACHED}.
     */
    SRQ_LIMIT_REACHED(15, "SRQ limit reached"),
    /**
     * A queue pair that has failed took its last request from its shared receive queue. After its completions are polled
     * it may be closed without losing a receive. C: {@index IBV_EVENT_QP_LAST_WQE_REACHED}.
     */
    QP_LAST_WQE_REACHED(16, "last WQE reached"),
    /**
     * The subnet manager has lost its registrations (InfiniBand). Register services and multicast groups again. C:
     * {@index IBV_EVENT_CLIENT_REREGISTER}.
     */
    CLIENT_REREGISTER(17, "client reregistration"),
    /**
     * The GID table of a port changed, for example because an interface got or lost an address. Look up the indexes of
     * GIDs again. C: {@index IBV_EVENT_GID_CHANGE}.
     */
    GID_CHANGE(18, "GID table change"),
    /** A work queue failed. Close it and what uses it. C: {@index IBV_EVENT_WQ_FATAL}. */
    WQ_FATAL(19, "local work queue catastrophic error"),
    /**
     * The speed of a port changed. {@link DeviceContext#queryPortSpeedMbps} has the new one. C:
     * {@index IBV_EVENT_DEVICE_SPEED_CHANGE}.
     */
    DEVICE_SPEED_CHANGE(20, "device speed change"),
    /** One that this version does not know; {@link AsyncEvent#typeCode} has its number. */
    UNKNOWN(-1, "unknown");

    private final int code;
    private final String text;

    AsyncEventType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static AsyncEventType ofCode(int code) {
        for (AsyncEventType each : values()) {
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

    /** {@return the text {@code ibv_event_type_str} gives} */
    public String text() {
        return text;
    }
}
