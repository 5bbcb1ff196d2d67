package io.rdma4j.verbs;

/**
 * What happened to a device or one of its objects, outside any completion.
 *
 * <p>C: {@code enum ibv_event_type}, {@code ibv_event_type_str}. Source: IBTA 11.6.3.
 */
public enum AsyncEventType {
    /** A completion queue overran. C: {@code IBV_EVENT_CQ_ERR}. */
    CQ_ERROR(0, "CQ error"),
    /** A queue pair failed and cannot report it in a completion. C: {@code IBV_EVENT_QP_FATAL}. */
    QP_FATAL(1, "local work queue catastrophic error"),
    /** The peer sent an invalid request. C: {@code IBV_EVENT_QP_REQ_ERR}. */
    QP_REQUEST_ERROR(2, "invalid request local work queue error"),
    /** The peer tried an access that is not allowed. C: {@code IBV_EVENT_QP_ACCESS_ERR}. */
    QP_ACCESS_ERROR(3, "local access violation work queue error"),
    /** The first packet arrived on a queue pair in RTR. C: {@code IBV_EVENT_COMM_EST}. */
    COMMUNICATION_ESTABLISHED(4, "communication established"),
    /** All outstanding work of a queue pair in SQD is complete. C: {@code IBV_EVENT_SQ_DRAINED}. */
    SEND_QUEUE_DRAINED(5, "send queue drained"),
    /** The connection moved to its alternate path. C: {@code IBV_EVENT_PATH_MIG}. */
    PATH_MIGRATED(6, "path migration succeeded"),
    /** It could not. C: {@code IBV_EVENT_PATH_MIG_ERR}. */
    PATH_MIGRATION_ERROR(7, "path migration failed"),
    /** The device failed. C: {@code IBV_EVENT_DEVICE_FATAL}. */
    DEVICE_FATAL(8, "local catastrophic error"),
    /** A port became active. C: {@code IBV_EVENT_PORT_ACTIVE}. */
    PORT_ACTIVE(9, "port active"),
    /** A port went down. C: {@code IBV_EVENT_PORT_ERR}. */
    PORT_ERROR(10, "port error"),
    /** A LID changed. C: {@code IBV_EVENT_LID_CHANGE}. */
    LID_CHANGE(11, "LID change"),
    /** The P_Key table changed. C: {@code IBV_EVENT_PKEY_CHANGE}. */
    PKEY_CHANGE(12, "P_Key change"),
    /** The subnet manager changed. C: {@code IBV_EVENT_SM_CHANGE}. */
    SM_CHANGE(13, "SM change"),
    /** A shared receive queue failed. C: {@code IBV_EVENT_SRQ_ERR}. */
    SRQ_ERROR(14, "SRQ catastrophic error"),
    /** A shared receive queue fell below its limit. C: {@code IBV_EVENT_SRQ_LIMIT_REACHED}. */
    SRQ_LIMIT_REACHED(15, "SRQ limit reached"),
    /**
     * A failed queue pair took its last request from a shared receive queue. C:
     * {@code IBV_EVENT_QP_LAST_WQE_REACHED}.
     */
    QP_LAST_WQE_REACHED(16, "last WQE reached"),
    /** The subnet manager asks to register anew. C: {@code IBV_EVENT_CLIENT_REREGISTER}. */
    CLIENT_REREGISTER(17, "client reregistration"),
    /** The GID table changed. C: {@code IBV_EVENT_GID_CHANGE}. */
    GID_CHANGE(18, "GID table change"),
    /** A work queue failed. C: {@code IBV_EVENT_WQ_FATAL}. */
    WQ_FATAL(19, "local work queue catastrophic error"),
    /** The speed of a port changed. C: {@code IBV_EVENT_DEVICE_SPEED_CHANGE}. */
    DEVICE_SPEED_CHANGE(20, "device speed change");

    private final int code;
    private final String text;

    AsyncEventType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the text {@code ibv_event_type_str} gives} */
    public String text() {
        return text;
    }
}
