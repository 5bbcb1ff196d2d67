package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayDeque;
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
 * @param <T> the events
 * @param <X> what a wait ends with that brings none
 */
public final class EventQueue<T, X extends Exception> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<T> events = new ArrayDeque<>();
    private final WaitFailures<X> failures;
    private final Waiters waiters;
    private final Selectable<X> selectable;
    /** Changes under the lock. */
    private volatile EventSet<?>.@Nullable Member member;
    private int users;
    private boolean closed;

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
        waiters = new Waiters(lock, isUrgent, since -> !events.isEmpty() || closed);
    }

    /** As {@link EventSource#joinSet}. */
    EventSource.Joining join(EventSet<?> set, EventSource<T, X> source) {
        lock.lock();
        try {
            EventSet<?>.Member known = member;
            if (closed || !set.isOpen()) {
                return EventSource.Joining.CLOSED;
            }
            if (known != null && known.isOpen()) {
                return known.isOf(set) ? EventSource.Joining.JOINED
                        : EventSource.Joining.ELSEWHERE;
            }
            if (known != null) {
                waiters.forEachDriver(known::removeDriver);
            }
            EventSet<?>.Member joined = set.member(source);
            member = joined;
            waiters.forEachDriver(joined::addDriver);
            joined.show(!events.isEmpty());
            return EventSource.Joining.JOINED;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the queue behind a channel} For devices. */
    public static <T, X extends Exception> EventQueue<T, X> of(EventSource<T, X> source) {
        return source.queue;
    }

    // ---------------------------------------------------------------- for threads that publish

    /** Counts one more that publishes here. {@return false if the queue is closed} */
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

    /** Adds an event and wakes one waiter; does nothing when closed. */
    public void publish(T event) {
        lock.lock();
        try {
            if (!closed) {
                events.add(event);
                waiters.alertOne();
                showReadiness();
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
            T event = await(Long.MAX_VALUE);
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
        return await(Waiters.nanos(timeout));
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
            showReadiness();
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

    private void showReadiness() {
        boolean isReady = !events.isEmpty();
        selectable.show(isReady);
        EventSet<?>.Member present = member;
        if (present != null) {
            present.show(isReady);
        }
    }

    private @Nullable T await(long timeoutNs) throws X {
        if (timeoutNs > 0 && Thread.interrupted()) {
            throw failures.interrupted();
        }
        lock.lock();
        try {
            boolean isAtOnce = closed || !events.isEmpty() || timeoutNs <= 0;
            waiters.await(0, timeoutNs);
            if (closed) {
                throw failures.closed();
            }
            T event = events.poll();
            showReadiness();
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

    // ---------------------------------------------------------------- events that no thread has taken

    /** {@return how many events of a kind no thread has taken} */
    public int count(Predicate<? super T> predicate) {
        lock.lock();
        try {
            return (int) events.stream().filter(predicate).count();
        } finally {
            lock.unlock();
        }
    }

    /** Drops events that no thread has taken. */
    public void removeIf(Predicate<? super T> predicate) {
        lock.lock();
        try {
            events.removeIf(predicate);
            showReadiness();
        } finally {
            lock.unlock();
        }
    }

    /** Moves events that no thread has taken to another queue, in order. */
    public void moveIf(Predicate<? super T> predicate, EventQueue<T, ?> target) {
        Queue<T> moved = new ArrayDeque<>();
        removeIf(event -> predicate.test(event) && moved.add(event));
        moved.forEach(target::publish);
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
        waiters.alertAll();
        selectable.close();
        EventSet<?>.Member present = member;
        if (present != null) {
            present.close();
        }
    }
}
