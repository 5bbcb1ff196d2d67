// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Channels that a thread waits for at once. Thread safe; waiting suits virtual threads.
 *
 * <p>Lock order: a queue, then its set.
 *
 * @param <X> what a wait ends with that brings none
 */
public abstract class EventSet<X extends Exception> implements AutoCloseable {
    private final ReentrantLock lock = new ReentrantLock();
    private final WaitFailures<X> failures;
    private final Waiters waiters;
    private final Selectable<X> selectable;
    /** The channels that have events; the one that was returned longest ago comes first. */
    private final SequencedSet<EventSource<?, ?>> ready = new LinkedHashSet<>();
    private boolean closed;

    /** @param failures what waits end with */
    protected EventSet(WaitFailures<X> failures) {
        this.failures = failures;
        selectable = new Selectable<>(failures);
        waiters = new Waiters(lock, true);
    }

    /** {@return a channel of the set that has an event, once one has} */
    protected final EventSource<?, ?> awaitSource() throws X {
        while (true) {
            EventSource<?, ?> source = take(Long.MAX_VALUE);
            if (source != null) {
                return source;
            }
        }
    }

    /**
     * {@return a channel of the set that has an event, or null if none has one in time} Channels that have events are
     * returned in turn, so that one that always has some keeps no other from being served.
     */
    protected final @Nullable EventSource<?, ?> pollSource(Duration timeout) throws X {
        return take(Waiters.nanos(timeout));
    }

    /**
     * As {@link #pollSource(Duration)}, and until a selector has something for a selection. Null may also come early, with nothing at all.
     *
     * @throws ClosedSelectorException if the selector is closed
     */
    protected final @Nullable EventSource<?, ?> pollSource(Duration timeout, Selector selector)
            throws X {
        // As in a selection, so that another thread which closes the selector wakes this one and waits for it.
        synchronized (selector) {
            if (!selector.isOpen()) {
                throw new ClosedSelectorException();
            }
            return take(Waiters.nanos(timeout), selector);
        }
    }

    private @Nullable EventSource<?, ?> take(long timeoutNs) throws X {
        return take(timeoutNs, null);
    }

    private @Nullable EventSource<?, ?> take(long timeoutNs, @Nullable Selector selector)
            throws X {
        if (timeoutNs > 0 && Thread.interrupted()) {
            throw failures.interrupted();
        }
        if (timeoutNs <= 0 && !waiters.isShown() && !selectable.isAskedFor()) {
            // Threads that look again and again need no lock for that.
            return null;
        }
        lock.lock();
        try {
            boolean isAtOnce = closed || !ready.isEmpty() || timeoutNs <= 0;
            await(timeoutNs, selector);
            if (closed) {
                throw failures.closed();
            }
            if (ready.isEmpty()) {
                if (isAtOnce && selectable.isAskedFor()) {
                    // A thread that finds nothing left without waiting for it goes back to a selector.
                    waiters.waitElsewhere();
                }
                return null;
            }
            EventSource<?, ?> next = ready.removeFirst();
            ready.addLast(next);
            return next;
        } catch (InterruptedException e) {
            throw failures.interrupted();
        } finally {
            // A thread that was alerted may leave events unread: another waiting thread must look for them.
            if (!ready.isEmpty()) {
                waiters.alertOne();
            }
            lock.unlock();
        }
    }

    private void await(long timeoutNs, @Nullable Selector selector)
            throws X, InterruptedException {
        if (selector == null || timeoutNs <= 0) {
            waiters.awaitShown(timeoutNs);
            return;
        }
        try {
            waiters.awaitShown(timeoutNs, selector);
        } catch (IOException e) {
            throw failures.notSelected(e);
        }
    }

    /** {@return a channel for selectors that is readable while a channel of the set has an event} */
    protected SelectableChannel selectableChannel() throws X {
        lock.lock();
        try {
            if (closed) {
                throw failures.closed();
            }
            SelectableChannel channel = selectable.channel();
            selectable.show(!ready.isEmpty());
            waiters.waitElsewhere();
            return channel;
        } finally {
            lock.unlock();
        }
    }

    /** The calling thread is about to wait for something else, and drives no device meanwhile. */
    protected void waitElsewhere() {
        lock.lock();
        try {
            waiters.waitElsewhere();
        } finally {
            lock.unlock();
        }
    }

    /** Closes the set and wakes the threads that wait for it; its channels stay open. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            ready.clear();
            waiters.show(true);
            waiters.alertAll();
            selectable.close();
        } finally {
            lock.unlock();
        }
    }

    boolean isOpen() {
        lock.lock();
        try {
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    Member member(EventSource<?, ?> source) {
        return new Member(source);
    }

    /** What a queue tells its set. Called under the lock of the queue. */
    final class Member {
        private final EventSource<?, ?> source;

        private Member(EventSource<?, ?> source) {
            this.source = source;
        }

        void addDriver(ProgressDriver driver) {
            lock.lock();
            try {
                waiters.addDriver(driver);
            } finally {
                lock.unlock();
            }
        }

        void removeDriver(ProgressDriver driver) {
            lock.lock();
            try {
                waiters.removeDriver(driver);
            } finally {
                lock.unlock();
            }
        }

        /** As {@link Waiters#prefer}. */
        void prefer(ProgressDriver driver) {
            lock.lock();
            try {
                waiters.prefer(driver);
            } finally {
                lock.unlock();
            }
        }

        boolean isOf(EventSet<?> set) {
            return EventSet.this.equals(set);
        }

        boolean isOpen() {
            return EventSet.this.isOpen();
        }

        boolean isSelectable() {
            return selectable.isAskedFor();
        }

        /** The channel has events now, or none. */
        void show(boolean isReady) {
            lock.lock();
            try {
                if (closed) {
                    return;
                }
                boolean isNew = isReady ? ready.add(source) : ready.remove(source);
                waiters.show(!ready.isEmpty());
                if (isReady && isNew) {
                    waiters.alertOne();
                }
                selectable.show(!ready.isEmpty());
            } finally {
                lock.unlock();
            }
        }

        void close() {
            show(false);
        }
    }
}
