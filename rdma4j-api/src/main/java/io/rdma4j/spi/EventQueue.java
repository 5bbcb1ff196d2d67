package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Events that devices publish and threads wait for. Thread safe; waiting suits virtual threads.
 *
 * <p>One of the threads that wait may do so in a device's {@link WaitingRoom}; the others sleep here, or in a
 * selector of the application's ({@link #selectableChannel}).
 *
 * @param <T> the events
 */
public final class EventQueue<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<T> events = new ArrayDeque<>();
    private final String operation;
    private final Waiters waiters;
    private boolean closed;
    /** Null until the application asks for it. */
    private volatile @Nullable Readiness readiness;

    /**
     * @param operation what a waiting caller attempts, for error messages
     * @param isUrgent as {@link WaitingRoom.Guest#isUrgent}
     */
    public EventQueue(String operation, boolean isUrgent) {
        this.operation = operation;
        waiters = new Waiters(lock, isUrgent, since -> !events.isEmpty() || closed);
    }

    /** Lets threads wait in the room of a device that publishes here; as often as {@link #removeRoom}. */
    public void addRoom(WaitingRoom offered) {
        lock.lock();
        try {
            waiters.addRoom(offered);
        } finally {
            lock.unlock();
        }
    }

    /** A device publishes less here. Who waits in its room goes on to do so. */
    public void removeRoom(WaitingRoom offered) {
        lock.lock();
        try {
            waiters.removeRoom(offered);
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

    /**
     * {@return the next event, waiting as long as it takes}
     *
     * @throws RdmaException EINTR when interrupted, EBADF when closed
     */
    public T take() throws RdmaException {
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
     * @param timeout how long to wait; zero or less to look only
     * @throws RdmaException EINTR when interrupted, EBADF when closed
     */
    public @Nullable T poll(Duration timeout) throws RdmaException {
        return await(nanos(timeout));
    }

    /**
     * {@return a channel that is readable while an event is here} It is made by the first call, or the next after
     * the application has closed it.
     *
     * @throws RdmaException EBADF when closed, ENOMEM if the system gives no pipe
     */
    public SelectableChannel selectableChannel() throws RdmaException {
        lock.lock();
        try {
            if (closed) {
                throw new RdmaException(Errno.EBADF, operation, "the channel is closed");
            }
            Readiness present = readiness;
            if (present != null && !present.isOpen()) {
                // The application has closed one end.
                present.close();
                present = null;
            }
            if (present == null) {
                present = Readiness.open(operation);
                readiness = present;
            }
            showReadiness();
            waiters.waitElsewhere();
            return present.channel();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the application has a channel to select on} */
    public boolean isSelectable() {
        return readiness != null;
    }

    private void showReadiness() {
        Readiness present = readiness;
        if (present != null) {
            present.show(!events.isEmpty());
        }
    }

    /** {@return how many events of a kind nobody has taken} */
    public int count(Predicate<? super T> predicate) {
        lock.lock();
        try {
            return (int) events.stream().filter(predicate).count();
        } finally {
            lock.unlock();
        }
    }

    /** Drops events that nobody has taken. */
    public void removeIf(Predicate<? super T> predicate) {
        lock.lock();
        try {
            events.removeIf(predicate);
            showReadiness();
        } finally {
            lock.unlock();
        }
    }

    /** Moves events that nobody has taken to another queue, in order. */
    public void moveIf(Predicate<? super T> predicate, EventQueue<T> target) {
        Queue<T> moved = new ArrayDeque<>();
        removeIf(event -> predicate.test(event) && moved.add(event));
        moved.forEach(target::publish);
    }

    /** Ends all waits with EBADF. Idempotent. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            events.clear();
            waiters.alertAll();
            Readiness present = readiness;
            if (present != null) {
                present.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable T await(long timeoutNs) throws RdmaException {
        if (Thread.interrupted()) {
            throw RdmaException.interrupted(operation);
        }
        lock.lock();
        try {
            boolean isAtOnce = closed || !events.isEmpty() || timeoutNs <= 0;
            waiters.await(0, timeoutNs);
            if (closed) {
                throw new RdmaException(Errno.EBADF, operation, "the channel is closed");
            }
            T event = events.poll();
            if (readiness != null) {
                onTaken(isAtOnce);
            }
            return event;
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(operation);
        } finally {
            // Who was told of an event and does not take it, or leaves others, tells the next.
            if (!events.isEmpty()) {
                waiters.alertOne();
            }
            lock.unlock();
        }
    }

    /** Who has taken the last event without waiting for it goes back to a selector. */
    private void onTaken(boolean isAtOnce) {
        showReadiness();
        if (isAtOnce && events.isEmpty()) {
            waiters.waitElsewhere();
        }
    }

    private static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }
}
