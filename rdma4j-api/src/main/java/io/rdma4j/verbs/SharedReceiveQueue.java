// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A receive queue that several queue pairs share.
 *
 * <p>C: {@code struct} {@index ibv_srq}. Source: IBTA 10.2.9. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface SharedReceiveQueue extends AutoCloseable {
    /** {@return the protection domain it belongs to} C: {@index pd of struct ibv_srq}. */
    ProtectionDomain protectionDomain();

    /** {@return its kind} C: {@code srq_type}. */
    default SharedReceiveQueueType type() {
        return SharedReceiveQueueType.BASIC;
    }

    /**
     * {@return its number, by which a peer's requests name it ({@link SendWorkRequest#toSharedReceiveQueue}), 24 bits} C:
     * {@index ibv_get_srq_num}.
     *
     * @throws RdmaException EOPNOTSUPP for a type other than XRC, whose queues have none
     */
    @Experimental
    default int number() throws RdmaException {
        throw RdmaException.unsupported("query shared receive queue number",
                "only a shared receive queue of type XRC has a number, not one of type " + type());
    }

    /** {@return the object given at creation, or null} C: {@index srq_context of struct ibv_srq}. */
    @Nullable
    Object userContext();

    /**
     * Posts a receive. C: {@index ibv_post_srq_recv}.
     *
     * @param request the caller's, free again when the call returns
     * @throws RdmaException EINVAL for more elements than the queue was created for, ENOMEM when the queue is
     *         full; on a native device also EFAULT for memory whose arena is closed, and EMSGSIZE for an element that is
     *         too long
     */
    void post(ReceiveWorkRequest request) throws RdmaException;

    /**
     * Posts receives in order.
     *
     * @param requests in this order; free again when the call returns
     * @throws PostException if one is refused, with the errno that {@link #post(ReceiveWorkRequest)} has for it, or
     *         EINVAL if it is null; the requests before it are posted
     */
    void post(List<ReceiveWorkRequest> requests) throws RdmaException;

    /**
     * Changes the size. C: {@index ibv_modify_srq} with {@index IBV_SRQ_MAX_WR} of {@code enum} {@index ibv_srq_attr_mask}.
     *
     * @param maxRequests how many it must hold
     * @throws RdmaException EINVAL naming the limit for a size out of range, below the armed limit, or
     *         too small for the outstanding requests; EOPNOTSUPP if the device does not support it; nothing is
     *         changed then
     */
    void resize(int maxRequests) throws RdmaException;

    /**
     * Asks for one event, {@link AsyncEventType#SRQ_LIMIT_REACHED}, when the queue holds fewer requests than a limit. C:
     * {@code ibv_modify_srq} with {@index IBV_SRQ_LIMIT}.
     *
     * @param limit requests; 0 to ask for no event
     * @throws RdmaException EINVAL naming the size for a limit above it
     */
    void arm(int limit) throws RdmaException;

    /**
     * {@return size and limit; a limit of 0 means not armed} C: {@index ibv_query_srq}.
     *
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    SharedReceiveQueueAttributes query() throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@index ibv_destroy_srq}.
     *
     * @throws RdmaException EBUSY while queue pairs use it or it has unacknowledged events
     */
    @Override
    void close() throws RdmaException;
}
