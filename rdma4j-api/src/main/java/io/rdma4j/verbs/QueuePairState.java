package io.rdma4j.verbs;

/**
 * The state of a queue pair.
 *
 * <p>C: {@code enum ibv_qp_state}. Source: IBTA 10.3.1, figure 124.
 */
public enum QueuePairState {
    /** Created; nothing may be posted. C: {@code IBV_QPS_RESET}. */
    RESET(0),
    /** Receives may be posted; nothing is sent or received. C: {@code IBV_QPS_INIT}. */
    INIT(1),
    /** Ready to receive. C: {@code IBV_QPS_RTR}. */
    RTR(2),
    /** Ready to send: the working state. C: {@code IBV_QPS_RTS}. */
    RTS(3),
    /** Send queue draining or drained: no new request starts. C: {@code IBV_QPS_SQD}. */
    SQD(4),
    /** The send queue failed; receiving goes on (UC and UD only). C: {@code IBV_QPS_SQE}. */
    SQE(5),
    /** Failed: all work is flushed. C: {@code IBV_QPS_ERR}. */
    ERR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
