// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Events that devices publish and threads wait for. Thread safe; waiting suits virtual threads. Any number of
 * devices may publish in one queue, from any thread.
 *
 * <p>One of the threads that wait may drive a device meanwhile ({@link ProgressDriver}); the others sleep here, or in
 * a selector of the application's ({@link #selectableChannel}). A queue that belongs to an {@link EventSet} also wakes
 * threads that wait there.
 *
 * <p>Events that must be acknowledged are published together with their object's {@link UnacknowledgedEvents}, and counted there
 * in the step that takes them.
 *
 * @param <T> the events
 * @param <X> what a wait ends with that brings none
 */
public final class EventQueue<T, X extends Exception> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Published<T>> events = new ArrayDeque<>();
    private final WaitFailures<X> failures;
    private final Waiters waiters;
    private final Selectable<X> selectable;
    /** Changes under the lock. */
    private volatile EventSet<?>.@Nullable Member member;
    private int users;
    private boolean closed;

    /**
     * An event as it is published; the same one may be published again.
     *
     * @param of counts the events of its object that are to be acknowledged, null for an event that need not be
     */
    public record Published<T>(T event, @Nullable UnacknowledgedEvents of) {
        private boolean isOf(UnacknowledgedEvents object) {
            return object.equals(of);
        }

        private boolean isEnded() {
            return of != null && of.isEnded();
        }

        /** {@return whether a thread may have it} Then it is counted. */
        private boolean take() {
            return of == null || of.take();
        }
    }

    /**
     * @param failures what waits end with
     * @param isUrgent as {@link ProgressDriver.Waiter#isUrgent}
     */
    public EventQueue(WaitFailures<X> failures, boolean isUrgent) {
        this(failures, isUrgent, null);
    }

    /** @param member what stands for it in the set it belongs to, null if there is none */
    EventQueue(WaitFailures<X> failures, boolean isUrgent, EventSet<?>.@Nullable Member member) {
        this.failures = failures;
        this.member = member;
        selectable = new Selectable<>(failures);
        waiters = new Waiters(lock, isUrgent);
    }

    /** As {@link EventSource#joinSet}. */
    void join(EventSet<X> set, EventSource<T, X> source) throws X {
        lock.lock();
        try {
            EventSet<?>.Member known = member;
            if (closed || !set.isOpen()) {
                throw failures.closedToJoin();
            }
            if (known != null && known.isOpen()) {
                if (!known.isOf(set)) {
                    throw failures.inAnotherSet();
                }
                return;
            }
            if (known != null) {
                waiters.forEachDriver(known::removeDriver);
            }
            EventSet<?>.Member joined = set.member(source);
            member = joined;
            waiters.forEachDriver(joined::addDriver);
            joined.show(!events.isEmpty());
        } finally {
            lock.unlock();
        }
    }

    /** {@return the queue behind a channel} For devices. */
    public static <T, X extends Exception> EventQueue<T, X> of(EventSource<T, X> source) {
        return source.queue;
    }

    // ---------------------------------------------------------------- for threads that publish

    /**
     * Counts one more that publishes here.
     *
     * @return false if the queue is closed
     */
    public boolean attach() {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            users++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Undoes one {@link #attach}. */
    public void detach() {
        lock.lock();
        try {
            users--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets threads that wait drive a device that publishes here; as often as {@link #removeDriver}. A device that
     * goes on by itself gives {@link ProgressDriver#NONE}, or does not call this.
     */
    public void addDriver(ProgressDriver driver) {
        lock.lock();
        try {
            waiters.addDriver(driver);
            EventSet<?>.Member present = member;
            if (present != null) {
                present.addDriver(driver);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A device publishes less here. A thread that drives it at the moment goes on to do so. */
    public void removeDriver(ProgressDriver driver) {
        lock.lock();
        try {
            waiters.removeDriver(driver);
            EventSet<?>.Member present = member;
            if (present != null) {
                present.removeDriver(driver);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Adds an event that need not be acknowledged, as {@link #publish(Published)}. */
    public void publish(T event) {
        publish(new Published<>(event, null));
    }

    /** Adds an event and wakes one waiter; does nothing when closed, or if the event's object has ended. */
    public void publish(Published<T> event) {
        publish(event, ProgressDriver.NONE);
    }

    /**
     * As {@link #publish(Published)}.
     *
     * @param from of the device it comes from: it is what a waiting thread drives next, because more may follow
     */
    public void publish(Published<T> event, ProgressDriver from) {
        lock.lock();
        try {
            if (!closed && !event.isEnded()) {
                events.add(event);
                waiters.prefer(from);
                EventSet<?>.Member present = member;
                if (present != null) {
                    present.prefer(from);
                }
                show();
                waiters.alertOne();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- for threads that wait

    /**
     * {@return the next event, waiting as long as it takes}
     *
     * @throws X when interrupted or closed
     */
    public T take() throws X {
        while (true) {
            T event = await(Long.MAX_VALUE, true);
            if (event != null) {
                return event;
            }
        }
    }

    /**
     * {@return the next event, as {@link #take}} It is not counted as unacknowledged, and must not be acknowledged: the caller keeps
     * it to itself.
     */
    public T takeUncounted() throws X {
        while (true) {
            T event = await(Long.MAX_VALUE, false);
            if (event != null) {
                return event;
            }
        }
    }

    /**
     * {@return the next event, or null if none comes in time}
     *
     * @param timeout how long to wait; zero or less to look only, which nothing interrupts
     * @throws X when interrupted or closed
     */
    public @Nullable T poll(Duration timeout) throws X {
        return await(Waiters.nanos(timeout), true);
    }

    /**
     * {@return a channel that is readable while an event is here} It is made by the first call, or the next after
     * the application has closed it.
     *
     * @throws X when closed, or if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws X {
        lock.lock();
        try {
            if (closed) {
                throw failures.closed();
            }
            SelectableChannel channel = selectable.channel();
            show();
            waiters.waitElsewhere();
            return channel;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the application has a channel to select on, of the queue or of the set it belongs to} */
    public boolean isSelectable() {
        EventSet<?>.Member present = member;
        return selectable.isAskedFor() || (present != null && present.isSelectable());
    }

    /** Shows whether events are here, after each change of them. */
    private void show() {
        boolean isReady = !events.isEmpty();
        waiters.show(closed || isReady);
        selectable.show(isReady);
        EventSet<?>.Member present = member;
        if (present != null) {
            present.show(isReady);
        }
    }

    private @Nullable T await(long timeoutNs, boolean isCounted) throws X {
        if (timeoutNs > 0 && Thread.interrupted()) {
            throw failures.interrupted();
        }
        lock.lock();
        try {
            boolean isAtOnce = closed || !events.isEmpty() || timeoutNs <= 0;
            T event = next(timeoutNs, isCounted);
            if (isAtOnce && events.isEmpty() && selectable.isAskedFor()) {
                // A thread that has taken the last event without waiting for it goes back to a selector.
                waiters.waitElsewhere();
            }
            return event;
        } catch (InterruptedException e) {
            throw failures.interrupted();
        } finally {
            // A thread that was alerted may leave events unread: another waiting thread must look for them.
            if (!events.isEmpty()) {
                waiters.alertOne();
            }
            lock.unlock();
        }
    }

    /** {@return the next event, null if none has come in time} Under the lock. */
    private @Nullable T next(long timeoutNs, boolean isCounted)
            throws X, InterruptedException {
        long startNs = timeoutNs <= 0 || timeoutNs == Long.MAX_VALUE ? 0 : System.nanoTime();
        long leftNs = timeoutNs;
        while (true) {
            waiters.awaitShown(leftNs);
            if (closed) {
                throw failures.closed();
            }
            if (events.isEmpty()) {
                return null;
            }
            Published<T> published = events.remove();
            show();
            if (isCounted ? published.take() : !published.isEnded()) {
                return published.event();
            }
            // Its object is being closed. That is no reason to come back early.
            if (startNs != 0) {
                leftNs = timeoutNs - (System.nanoTime() - startNs);
            }
        }
    }

    // ---------------------------------------------------------------- events that no thread has taken

    /** {@return whether no event waits} */
    public boolean isEmpty() {
        lock.lock();
        try {
            return events.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Drops the events of an object that has ended. */
    public void discard(UnacknowledgedEvents object) {
        lock.lock();
        try {
            events.removeIf(published -> published.isOf(object));
            show();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes events of an object that moves to another queue, in one step with the look whether a thread holds one.
     *
     * @param predicate which to remove
     * @return the removed events in order, to be published in another queue; null if one of the object's is taken and not
     *         acknowledged, then none is removed
     */
    public @Nullable List<Published<T>> removeUnlessTaken(UnacknowledgedEvents object,
            Predicate<? super T> predicate) {
        lock.lock();
        try {
            if (object.count() > 0) {
                return null;
            }
            List<Published<T>> removed = new ArrayList<>();
            for (Iterator<Published<T>> each = events.iterator(); each.hasNext();) {
                Published<T> published = each.next();
                if (predicate.test(published.event())) {
                    each.remove();
                    show();
                    removed.add(published);
                }
            }
            return removed;
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- the end

    /** Ends all waits. Idempotent. */
    public void close() {
        lock.lock();
        try {
            closeLocked();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #close}, unless it still has publishers. {@return their number} */
    int closeUnlessUsed() {
        lock.lock();
        try {
            if (users == 0) {
                closeLocked();
            }
            return users;
        } finally {
            lock.unlock();
        }
    }

    private void closeLocked() {
        closed = true;
        events.clear();
        waiters.show(true);
        waiters.alertAll();
        selectable.close();
        EventSet<?>.Member present = member;
        if (present != null) {
            present.close();
        }
    }
}
