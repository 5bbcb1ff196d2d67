package io.rdma4j.verbs;

/**
 * The kind of a shared receive queue.
 *
 * <p>C: {@code enum ibv_srq_type}.
 */
public enum SharedReceiveQueueType {
    /** Serves queue pairs of one protection domain. C: {@code IBV_SRQT_BASIC}. */
    BASIC,
    /** Extended reliable connections; native devices only. C: {@code IBV_SRQT_XRC}. */
    @Experimental
    XRC;
}
