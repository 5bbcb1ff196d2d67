// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/**
 * Receives the completions of requests that have ended.
 *
 * <p>C: {@code struct} {@index ibv_cq}. Source: IBTA 10.2.6. Thread safe; each completion is returned once.
 *
 * <p>On a software device polling drives the device: the polling thread sends and receives the packets. If more
 * completions arrive than the queue can hold, the queue and every queue pair that uses it fail
 * ({@link AsyncEventType#CQ_ERROR}); the completions in the queue can still be polled.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface CompletionQueue extends AutoCloseable {
    /** {@return the device it belongs to} C: {@index context of struct ibv_cq}. */
    DeviceContext context();

    /**
     * {@return the queue pair of a completion of this queue, null if it is closed by now} Allocates nothing. C programs find it in
     * a table of their own by {@code qp_num}.
     *
     * @param completion as {@link #poll(WorkCompletion)} has filled it
     * @throws RdmaException as {@link DeviceContext#queuePair}
     */
    default @Nullable QueuePair queuePair(WorkCompletion completion) throws RdmaException {
        return context().queuePair(completion.queuePairNumber());
    }

    /** {@return the entries it can hold} C: {@index cqe of struct ibv_cq}. */
    int capacity();

    /** {@return the channel of its events, or null} C: {@index channel of struct ibv_cq}. */
    @Nullable
    CompletionChannel channel();

    /** {@return the object given at creation, or null} C: {@index cq_context of struct ibv_cq}. */
    @Nullable
    Object userContext();

    /**
     * Takes completions from the queue, oldest first, without waiting. C: {@index ibv_poll_cq}.
     *
     * @param completions filled from its start
     * @return how many were filled
     * @throws RdmaException EIO if the queue has overrun and is empty, or if the driver of a native device fails;
     *         EBADF if the queue is closed
     * @throws IllegalStateException if the calling thread reads this queue in place
     *         ({@link ExtendedCompletionQueue#startPoll})
     */
    int poll(WorkCompletion[] completions) throws RdmaException;

    /**
     * Takes the oldest completion from the queue, without waiting.
     *
     * @param completion filled if there was one
     * @return whether there was one
     * @throws RdmaException EIO if the queue has overrun and is empty, or if the driver of a native device fails; EBADF if
     *         the queue is closed
     * @throws IllegalStateException if the calling thread reads this queue in place
     *         ({@link ExtendedCompletionQueue#startPoll})
     */
    boolean poll(WorkCompletion completion) throws RdmaException;

    /**
     * Takes completions from the queue, oldest first, without waiting, and hands each to a handler. Allocates nothing while
     * one thread at a time polls the queue so.
     *
     * @param limit how many at most, from 0
     * @param handler called for each, with an object that is valid during the call
     * @return how many were taken
     * @throws RdmaException as {@link #poll(WorkCompletion)}, and what the handler throws; the completion that it had was
     *         taken, those after it are still in the queue
     * @throws IllegalStateException if the calling thread reads this queue in place
     *         ({@link ExtendedCompletionQueue#startPoll})
     */
    int poll(int limit, CompletionHandler handler) throws RdmaException;

    /**
     * Asks for one event in the channel when the next completion arrives. C:
     * {@index ibv_req_notify_cq}. Poll once more afterwards: a completion that arrived before this call causes no event.
     *
     * @throws RdmaException EINVAL if the queue was created without a channel, EBADF if the queue is closed
     */
    void requestNotification() throws RdmaException;

    /**
     * Asks for one event in the channel when the next request fails, or when the next message arrives that the peer sent
     * with {@link SendFlag#SOLICITED}. After {@link #requestNotification} it has no effect until that event has come. C:
     * {@index ibv_req_notify_cq} with {@code solicited_only}.
     *
     * @throws RdmaException as {@link #requestNotification}
     */
    void requestSolicitedNotification() throws RdmaException;

    /**
     * Acknowledges events taken from the channel. C: {@index ibv_ack_cq_events}. Each event that was taken must be
     * acknowledged. Any thread may acknowledge several at once, before or after polling.
     *
     * @param count how many
     * @throws IllegalArgumentException if it is negative, or greater than the number of unacknowledged events
     */
    void acknowledgeEvents(int count);

    /**
     * Changes the capacity and keeps the completions in the queue. C: {@index ibv_resize_cq}.
     *
     * @param capacity entries, at least 1 and at most {@link DeviceLimit#MAX_CQE}
     * @throws RdmaException EINVAL if the capacity is out of range or less than the number of completions in the queue,
     *         EOPNOTSUPP if the device does not support it, ENOMEM if memory is short; nothing is changed then. EBADF if the
     *         queue is closed
     */
    void resize(int capacity) throws RdmaException;

    /**
     * Delays events until a number of completions has arrived or a time has passed, whichever
     * comes first. C: {@index ibv_modify_cq} with {@code moderate.}{@index cq_count of struct ibv_moderate_cq} and
     * {@code moderate.}{@index cq_period of struct ibv_moderate_cq} ({@code struct} {@index ibv_moderate_cq}).
     *
     * @param count completions; 0 or 1 for no moderation
     * @param period from the first of them; devices count in microseconds, and a part of one counts as a whole one
     * @throws RdmaException EINVAL naming the device's limits, EOPNOTSUPP if the device does not support it
     */
    void moderate(int count, Duration period) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@index ibv_destroy_cq}, which waits until all events are acknowledged; this does
     * not wait.
     *
     * @throws RdmaException EBUSY while queue pairs use it or it has unacknowledged events
     */
    @Override
    void close() throws RdmaException;
}
