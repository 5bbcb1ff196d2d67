// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * A channel that delivers events. Thread safe; each event is delivered once.
 *
 * @param <T> the events
 * @param <X> the exception that ends a wait without an event
 */
public abstract class EventSource<T, X extends Exception> implements AutoCloseable {
    final EventQueue<T, X> queue;

    /**
     * @param failures the exceptions that end waits
     * @param isUrgent as {@link ProgressDriver.Waiter#isUrgent}
     * @param set the set it belongs to, or null
     */
    // The set keeps it, and asks nothing of it.
    @SuppressWarnings("this-escape")
    protected EventSource(WaitFailures<X> failures, boolean isUrgent, @Nullable EventSet<X> set) {
        queue = new EventQueue<>(failures, isUrgent, set == null ? null : set.member(this));
    }

    /**
     * Waits for the next event.
     *
     * @throws X when interrupted, or when the channel is closed
     */
    public T awaitEvent() throws X {
        return queue.take();
    }

    /**
     * {@return the next event, or null if none comes in time}
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws X when interrupted, or when the channel is closed
     */
    public @Nullable T pollEvent(Duration timeout) throws X {
        return queue.poll(timeout);
    }

    /**
     * {@return a channel that a selector can wait for: it is readable while there is an event} As {@code
     * WaitChannel.selectableChannel}.
     *
     * @throws X when the channel is closed, or if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws X {
        return queue.selectableChannel();
    }

    /**
     * Adds the channel to a set. Idempotent.
     *
     * @throws X if the channel belongs to another set that is open, or if one of them is closed
     */
    protected final void joinSet(EventSet<X> set) throws X {
        queue.join(set, this);
    }

    /** {@return whether the channel is closed} */
    protected final boolean isClosed() {
        return queue.isClosed();
    }

    /**
     * Closes the channel and wakes its waiters, unless it is used.
     *
     * @return how many still use it; it is closed if there are none
     */
    protected final int closeUnlessUsed() {
        return queue.closeUnlessUsed();
    }

    @Override
    public abstract void close() throws X;
}
