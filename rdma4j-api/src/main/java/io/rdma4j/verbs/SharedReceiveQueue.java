package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A receive queue that several queue pairs draw from.
 *
 * <p>C: {@code struct ibv_srq}. Source: IBTA 10.2.9. Thread safe.
 */
public interface SharedReceiveQueue extends AutoCloseable {
    /** {@return the protection domain it belongs to} C: {@code pd}. */
    ProtectionDomain protectionDomain();

    /** {@return its kind} C: {@code srq_type}. */
    default SharedReceiveQueueType type() {
        return SharedReceiveQueueType.BASIC;
    }

    /**
     * {@return its number, by which a peer's requests name it ({@link SendWorkRequest#toSharedReceiveQueue}), 24 bits} C:
     * {@code ibv_get_srq_num}.
     *
     * @throws RdmaException EOPNOTSUPP for a type other than XRC, whose queues have none
     */
    default int number() throws RdmaException {
        throw RdmaException.unsupported("query shared receive queue number",
                "only a shared receive queue of type XRC has a number, not one of type " + type());
    }

    /** {@return the object given at creation, or null} C: {@code srq_context}. */
    @Nullable
    Object userContext();

    /**
     * Posts a receive. C: {@code ibv_post_srq_recv}.
     *
     * @throws RdmaException EINVAL for more elements than the queue was created for, ENOMEM when the queue is
     *         full
     */
    void post(ReceiveWorkRequest request) throws RdmaException;

    /**
     * Posts receives in order.
     *
     * @throws PostException if one is refused, with the errno as for one alone, or EINVAL if it is null; those
     *         before it are posted
     */
    void post(List<ReceiveWorkRequest> requests) throws RdmaException;

    /**
     * Changes the size. C: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @throws RdmaException EINVAL naming the limit for a size out of range, below the limit that is armed, or
     *         too small for the requests that are outstanding; EOPNOTSUPP if the device cannot; nothing is
     *         changed
     */
    void resize(int maxRequests) throws RdmaException;

    /**
     * Arms the limit event. C: {@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @throws RdmaException EINVAL naming the limit for one above the size
     */
    void arm(int limit) throws RdmaException;

    /**
     * {@return size and limit; a limit of 0 means not armed} C: {@code ibv_query_srq}.
     *
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    SharedReceiveQueueAttributes query() throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@code ibv_destroy_srq}.
     *
     * @throws RdmaException EBUSY while queue pairs use it or events are not acknowledged
     */
    @Override
    void close() throws RdmaException;
}
