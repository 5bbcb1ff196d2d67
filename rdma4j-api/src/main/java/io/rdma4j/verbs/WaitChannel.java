// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * A channel that events arrive in; one thread takes each of them: {@link CompletionChannel}, {@link AsyncEventChannel}, and
 * the event channel of the connection manager ({@code CmEventChannel}). Implemented by rdma4j alone; a later version adds
 * methods only as {@code default}.
 *
 * <p>C: the file descriptor of {@code struct ibv_comp_channel}, {@code struct rdma_event_channel} or {@code struct
 * ibv_context}, for which a program can poll(2). Thread safe. Virtual threads may wait here.
 *
 * @param <T> what is taken from it
 * @since 0.1.0
 */
public interface WaitChannel<T> extends AutoCloseable {
    /**
     * Waits for the next event.
     *
     * @return the event
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    T awaitEvent() throws RdmaException;

    /**
     * {@return the next event, or null if none comes in time}
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws RdmaException EINTR when interrupted, EBADF when the channel is closed
     */
    @Nullable
    T pollEvent(Duration timeout) throws RdmaException;

    /**
     * {@return a channel that a selector can wait for, together with sockets and others: it is readable while there is an
     * event}
     *
     * <p>Register it for {@link java.nio.channels.SelectionKey#OP_READ}, but do not read from it. It becomes unreadable when
     * the last event is taken, by any thread. When it is readable, take one or all events by
     * {@link #pollEvent} with a time-out of zero, because another thread may have been faster.
     *
     * <p>It is non-blocking and always the same object. The first call creates it; without a call it costs nothing. It
     * belongs to this channel, which closes it and then wakes the selectors that wait for it. While a thread waits in a
     * selector, another thread drives the device; that costs one more wake-up than waiting in {@link #awaitEvent}.
     *
     * @throws RdmaException EBADF when the channel is closed, ENOMEM if the system gives no pipe
     */
    SelectableChannel selectableChannel() throws RdmaException;

    /**
     * Adds this channel to a set, so that threads that wait for the set also wait for this channel. Events that have
     * arrived already count. Idempotent.
     *
     * @param set what a thread waits for
     * @throws RdmaException EBUSY if the channel belongs to another set that is open, EBADF if the channel or the set is
     *         closed
     */
    void join(WaitSet set) throws RdmaException;

    /**
     * Closes the channel and wakes its waiters. Idempotent.
     *
     * @throws RdmaException EBUSY while something uses it
     */
    @Override
    void close() throws RdmaException;
}
