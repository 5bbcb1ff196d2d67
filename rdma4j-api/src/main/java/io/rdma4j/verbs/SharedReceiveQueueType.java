package io.rdma4j.verbs;

/**
 * The kind of a shared receive queue.
 *
 * <p>C: {@code enum ibv_srq_type}.
 */
public enum SharedReceiveQueueType {
    /** Serves queue pairs of one protection domain. */
    BASIC,
    /** Extended reliable connections; native devices only. */
    XRC,
    /** Tag matching; native devices only. */
    TAG_MATCHING;
}
