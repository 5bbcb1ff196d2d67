package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Events that devices publish and threads wait for. Thread safe; waiting suits virtual threads.
 *
 * <p>One of the threads that wait may do so in a device's {@link WaitingRoom}; the others sleep here.
 *
 * @param <T> the events
 */
public final class EventQueue<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Queue<T> events = new ArrayDeque<>();
    private final String operation;
    private final boolean isUrgent;
    /** Of the devices that publish here, and how often they were given. */
    private final Map<WaitingRoom, Integer> rooms = new LinkedHashMap<>();
    private final WaitingRoom.Guest guest = new Waiters();
    private @Nullable WaitingRoom room;
    /** Who waits in a room, and in which. */
    private @Nullable Thread attendant;
    private @Nullable WaitingRoom attended;
    private boolean closed;

    /** The threads that wait here, to a room. */
    private final class Waiters implements WaitingRoom.Guest {
        @Override
        public boolean isDone() {
            lock.lock();
            try {
                return !events.isEmpty() || closed;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public boolean isUrgent() {
            return isUrgent;
        }

        @Override
        public boolean offer() {
            lock.lock();
            try {
                boolean isWaiting = lock.hasWaiters(arrived);
                arrived.signal();
                return isWaiting;
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * @param operation what a waiting caller attempts, for error messages
     * @param isUrgent as {@link WaitingRoom.Guest#isUrgent}
     */
    public EventQueue(String operation, boolean isUrgent) {
        this.operation = operation;
        this.isUrgent = isUrgent;
    }

    /** Lets threads wait in the room of a device that publishes here; as often as {@link #removeRoom}. */
    public void addRoom(WaitingRoom offered) {
        lock.lock();
        try {
            rooms.merge(offered, 1, Integer::sum);
            room = rooms.keySet().iterator().next();
        } finally {
            lock.unlock();
        }
    }

    /** A device publishes less here. Who waits in its room goes on to do so. */
    public void removeRoom(WaitingRoom offered) {
        lock.lock();
        try {
            int left = rooms.getOrDefault(offered, 0) - 1;
            if (left > 0) {
                rooms.put(offered, left);
                return;
            }
            rooms.remove(offered);
            offered.forget(guest);
            room = rooms.isEmpty() ? null : rooms.keySet().iterator().next();
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
                alert();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes one of those who wait look at the events. */
    private void alert() {
        if (lock.hasWaiters(arrived)) {
            arrived.signal();
        } else {
            wakeAttendant();
        }
    }

    private void wakeAttendant() {
        // Who publishes from within the room looks before it sleeps again.
        if (attended != null && !Thread.currentThread().equals(attendant)) {
            attended.wake();
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
            wakeAttendant();
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
                WaitingRoom entered = enter();
                if (entered == null) {
                    remainingNs = arrived.awaitNanos(remainingNs);
                } else {
                    long startNs = System.nanoTime();
                    stay(entered, remainingNs);
                    remainingNs -= System.nanoTime() - startNs;
                }
            }
            return events.remove();
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(operation);
        } finally {
            // Who was told of an event and does not take it, or leaves others, tells the next.
            if (!events.isEmpty()) {
                alert();
            }
            lock.unlock();
        }
    }

    /** {@return the room that this thread is in now, null if it has to sleep here} */
    private @Nullable WaitingRoom enter() {
        WaitingRoom wanted = room;
        // One thread of this queue in one room, or a publisher would have to wake several.
        boolean isOtherAttended = attended != null && !attended.equals(wanted);
        return wanted != null && !isOtherAttended && wanted.tryEnter(guest) ? wanted : null;
    }

    private void stay(WaitingRoom entered, long timeoutNs) throws InterruptedException {
        attendant = Thread.currentThread();
        attended = entered;
        lock.unlock();
        try {
            entered.stay(timeoutNs);
        } finally {
            entered.leave();
            lock.lock();
            // Another thread may have entered since.
            if (Thread.currentThread().equals(attendant)) {
                attendant = null;
                attended = null;
            }
        }
        // As for who sleeps on a condition, an event that came first comes first.
        if (events.isEmpty() && Thread.interrupted()) {
            throw new InterruptedException();
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
