package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Where finished work is reported.
 *
 * <p>C: {@code struct ibv_cq}. Source: IBTA 10.2.6. Thread safe; each completion is handed out once.
 *
 * <p>Polling drives the device: a thread that polls carries its packets itself. If more completions
 * arrive than the queue can hold, the queue and every queue pair on it fail
 * ({@link AsyncEventType#CQ_ERROR}); what it holds can still be polled.
 */
public interface CompletionQueue extends AutoCloseable {
    /** {@return the device it belongs to} C: {@code context}. */
    DeviceContext context();

    /** {@return the entries it can hold} C: {@code cqe}. */
    int capacity();

    /** {@return the channel it notifies, or null} C: {@code channel}. */
    @Nullable
    CompletionChannel channel();

    /** {@return the object given at creation, or null} C: {@code cq_context}. */
    @Nullable
    Object userContext();

    /**
     * Takes completions, oldest first, without waiting. C: {@code ibv_poll_cq}.
     *
     * @param completions filled from its start
     * @return how many were filled
     * @throws RdmaException EIO when the queue has overrun and all it held has been taken
     * @throws IllegalStateException if the queue is closed
     */
    int poll(WorkCompletion[] completions) throws RdmaException;

    /**
     * Takes one completion. {@return whether there was one} Errors as above.
     *
     * @throws RdmaException EIO when the queue has overrun and all it held has been taken
     */
    boolean poll(WorkCompletion completion) throws RdmaException;

    /**
     * Asks for one event in the channel when the next completion arrives. C:
     * {@code ibv_req_notify_cq}. Poll once more afterwards: what arrived before does not count.
     *
     * @param solicitedOnly only for a completion the peer marked, or a failure
     * @throws RdmaException EINVAL if the queue was created without a channel
     * @throws IllegalStateException if the queue is closed
     */
    void requestNotification(boolean solicitedOnly) throws RdmaException;

    /**
     * Acknowledges events taken from the channel. C: {@code ibv_ack_cq_events}. Whoever takes an event owes
     * its acknowledgement; it may be given for several at once, by any thread, before or after polling.
     *
     * @param count how many
     * @throws IllegalArgumentException if it is negative, or more than are not acknowledged
     */
    void acknowledgeEvents(int count);

    /**
     * Changes the capacity, keeping what it holds. C: {@code ibv_resize_cq}.
     *
     * @param capacity entries, at least 1 and at most {@link DeviceLimit#MAX_CQE}
     * @throws RdmaException EINVAL if the capacity is out of range or less than what the queue holds now,
     *         EOPNOTSUPP if the device cannot, ENOMEM if there is not so much memory; nothing is changed
     * @throws IllegalStateException if the queue is closed
     */
    void resize(int capacity) throws RdmaException;

    /**
     * Puts notifications off until so many completions have arrived or so much time has passed, whichever
     * comes first. C: {@code ibv_modify_cq} with {@code moderate.cq_count} and
     * {@code moderate.cq_period}.
     *
     * @param count completions; 0 or 1 for no moderation
     * @param periodUs microseconds from the first of them
     * @throws RdmaException EINVAL naming the device's limits
     */
    void moderate(int count, int periodUs) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@code ibv_destroy_cq}, which waits for unacknowledged events; this does
     * not wait.
     *
     * @throws RdmaException EBUSY while queue pairs use it or events are not acknowledged
     */
    @Override
    void close() throws RdmaException;
}
