package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Events that devices publish and threads wait for. Thread safe; waiting suits virtual threads.
 *
 * @param <T> the events
 */
public final class EventQueue<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Queue<T> events = new ArrayDeque<>();
    private final String operation;
    private boolean closed;

    /** @param operation what a waiting caller attempts, for error messages */
    public EventQueue(String operation) {
        this.operation = operation;
    }

    /** Adds an event and wakes one waiter; does nothing when closed. */
    public void publish(T event) {
        lock.lock();
        try {
            if (!closed) {
                events.add(event);
                arrived.signal();
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
            arrived.signalAll();
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
            long remainingNs = timeoutNs;
            while (events.isEmpty()) {
                if (closed) {
                    throw new RdmaException(Errno.EBADF, operation, "the channel is closed");
                }
                if (remainingNs <= 0) {
                    return null;
                }
                remainingNs = arrived.awaitNanos(remainingNs);
            }
            return events.remove();
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(operation);
        } finally {
            lock.unlock();
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
