package io.rdma4j.spi;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;

/**
 * Threads that wait for the same. One of them may do so in a device's {@link WaitingRoom}; the others sleep
 * here.
 *
 * <p>All but what a room calls is under the lock.
 */
final class Waiters implements WaitingRoom.Guest {
    private final ReentrantLock lock;
    private final Condition alerted;
    private final boolean isUrgent;
    private final LongPredicate isDone;
    /** Of the devices that have news for these threads, and how often they were given. */
    private final Map<WaitingRoom, Integer> rooms = new LinkedHashMap<>();
    private @Nullable WaitingRoom room;
    /** Who waits in a room, in which, and since when. */
    private @Nullable Thread attendant;
    private @Nullable WaitingRoom attended;
    private long attendedSince;

    /**
     * @param lock of whoever has the news
     * @param isUrgent as {@link WaitingRoom.Guest#isUrgent}
     * @param isDone whether who waits since then need not any more; under the lock
     */
    Waiters(ReentrantLock lock, boolean isUrgent, LongPredicate isDone) {
        this.lock = lock;
        this.isUrgent = isUrgent;
        this.isDone = isDone;
        alerted = lock.newCondition();
    }

    // ---------------------------------------------------------------- for rooms

    @Override
    public boolean isDone() {
        lock.lock();
        try {
            return isDone.test(attendedSince);
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
            boolean isWaiting = lock.hasWaiters(alerted);
            alerted.signal();
            return isWaiting;
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- under the lock

    /** Lets threads wait in the room of a device; as often as {@link #removeRoom}. */
    void addRoom(WaitingRoom offered) {
        rooms.merge(offered, 1, Integer::sum);
        room = rooms.keySet().iterator().next();
    }

    /** A device has less news. Who waits in its room goes on to do so. */
    void removeRoom(WaitingRoom offered) {
        int left = rooms.getOrDefault(offered, 0) - 1;
        if (left > 0) {
            rooms.put(offered, left);
            return;
        }
        rooms.remove(offered);
        offered.forget(this);
        room = rooms.isEmpty() ? null : rooms.keySet().iterator().next();
    }

    /** {@return whether any thread waits} */
    boolean areThere() {
        return attended != null || lock.hasWaiters(alerted);
    }

    /** Makes one of those who wait look whether it is done. */
    void alertOne() {
        if (isAttendant()) {
            return;
        }
        if (lock.hasWaiters(alerted)) {
            alerted.signal();
        } else {
            wakeAttendant();
        }
    }

    /** Makes all who wait look whether they are done. */
    void alertAll() {
        alerted.signalAll();
        if (!isAttendant()) {
            wakeAttendant();
        }
    }

    /** {@return whether the news come from within the room} Who is there looks before it sleeps again. */
    private boolean isAttendant() {
        return Thread.currentThread().equals(attendant);
    }

    /** The calling thread waits where nobody drives the devices. */
    void waitElsewhere() {
        rooms.keySet().forEach(WaitingRoom::waitElsewhere);
    }

    private void wakeAttendant() {
        if (attended != null) {
            attended.wake();
        }
    }

    /**
     * Waits until it is done, or time is up.
     *
     * @param since for the question whether it is done
     * @param timeoutNs {@link Long#MAX_VALUE} for ever
     */
    void await(long since, long timeoutNs) throws InterruptedException {
        long remainingNs = timeoutNs;
        while (!isDone.test(since) && remainingNs > 0) {
            WaitingRoom entered = enter();
            if (entered == null) {
                remainingNs = alerted.awaitNanos(remainingNs);
            } else {
                long startNs = System.nanoTime();
                stay(entered, since, remainingNs);
                remainingNs -= System.nanoTime() - startNs;
            }
        }
    }

    /** {@return the room that this thread is in now, null if it has to sleep here} */
    private @Nullable WaitingRoom enter() {
        WaitingRoom wanted = room;
        // One of these threads in one room, or who has news would have to wake several.
        boolean isOtherAttended = attended != null && !attended.equals(wanted);
        return wanted != null && !isOtherAttended && wanted.tryEnter(this) ? wanted : null;
    }

    private void stay(WaitingRoom entered, long since, long timeoutNs)
            throws InterruptedException {
        attendant = Thread.currentThread();
        attended = entered;
        attendedSince = since;
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
        // As for who sleeps on a condition, what came first comes first.
        if (!isDone.test(since) && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
