// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * An event of a device or one of its objects that is not the completion of a request.
 *
 * <p>C: {@code struct ibv_async_event}, {@code ibv_ack_async_event}. An object with unacknowledged
 * events cannot be closed. Closing the event acknowledges it.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface AsyncEvent extends AutoCloseable {
    /** {@return what happened} C: {@code event_type}. */
    AsyncEventType type();

    /** {@return the number of its type in verbs.h, also where it is UNKNOWN} C: {@code event_type}. */
    default int typeCode() {
        return type().code();
    }

    /** {@return the queue pair it happened to, or null} C: {@code element.qp}. */
    @Nullable
    QueuePair queuePair();

    /** {@return the completion queue it happened to, or null} C: {@code element.cq}. */
    @Nullable
    CompletionQueue completionQueue();

    /** {@return the shared receive queue it happened to, or null} C: {@code element.srq}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /** {@return the port it happened to, or 0} C: {@code element.port_num}. */
    int port();

    /** Acknowledges the event. Idempotent. C: {@code ibv_ack_async_event}. */
    void acknowledge();

    @Override
    default void close() {
        acknowledge();
    }
}
