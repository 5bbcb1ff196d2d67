package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;

/**
 * A channel that events come out of. Thread safe; each event is handed out once.
 *
 * @param <T> the events
 * @param <X> what a wait ends with that brings none
 */
public abstract class EventSource<T, X extends Exception> implements AutoCloseable {
    final EventQueue<T, X> queue;

    /**
     * @param failures what waits end with
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
     * {@return a channel that a selector can wait for, together with sockets and others: it is readable while an
     * event is here}
     *
     * <p>Register it for {@link java.nio.channels.SelectionKey#OP_READ}, but do not read from it: taking events
     * makes it unreadable, whoever takes them. When it is readable take one or all events, with
     * {@link #pollEvent} and a time-out of zero, for another thread may have been faster.
     *
     * <p>It is non-blocking and always the same, made by the first call; without one it costs nothing. It belongs to
     * this channel, which closes it, and wakes selectors that wait for it that moment; others find its key invalid.
     * Devices drive themselves while a thread waits in a selector; that costs one more wake-up than waiting in
     * {@link #awaitEvent}.
     *
     * @throws X when the channel is closed, or if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws X {
        return queue.selectableChannel();
    }

    /** What came of {@link #joinSet}. */
    protected enum Joining {
        /** The channel belongs to the set. */
        JOINED,
        /** It belongs to another one that is open. */
        ELSEWHERE,
        /** The channel or the set is closed. */
        CLOSED
    }

    /** Has the channel belong to a set from now on, unless it belongs to another. {@return what came of it} */
    protected final Joining joinSet(EventSet<?> set) {
        return queue.join(set, this);
    }

    /** {@return whether the channel is closed} */
    protected final boolean isClosed() {
        return queue.isClosed();
    }

    /** Closes the channel and wakes its waiters. {@return how many still use it; it is closed if there are none} */
    protected final int closeUnlessUsed() {
        return queue.closeUnlessUsed();
    }

    @Override
    public abstract void close() throws X;
}
