// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * An event of a device or one of its objects that is not the completion of a request.
 *
 * <p>C: {@code struct} {@index ibv_async_event}, {@index ibv_ack_async_event}. An object with unacknowledged
 * events cannot be closed. Closing the event acknowledges it.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface AsyncEvent extends AutoCloseable {
    /** {@return what happened} C: {@index event_type of struct ibv_async_event}. */
    AsyncEventType type();

    /**
     * {@return the number of its type in verbs.h, also where it is UNKNOWN} C:
     * {@index event_type of struct ibv_async_event}.
     */
    default int typeCode() {
        return type().code();
    }

    /** {@return the queue pair it happened to, or null} C: {@code element.}{@index qp of struct ibv_async_event}. */
    @Nullable
    QueuePair queuePair();

    /** {@return the completion queue it happened to, or null} C: {@code element.}{@index cq of struct ibv_async_event}. */
    @Nullable
    CompletionQueue completionQueue();

    /**
     * {@return the shared receive queue it happened to, or null} C:
     * {@code element.}{@index srq of struct ibv_async_event}.
     */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /** {@return the port it happened to, or 0} C: {@code element.}{@index port_num of struct ibv_async_event}. */
    int port();

    /** Acknowledges the event. Idempotent. C: {@index ibv_ack_async_event}. */
    void acknowledge();

    @Override
    default void close() {
        acknowledge();
    }
}
