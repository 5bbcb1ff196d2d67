package io.rdma4j.softnic.engine;

import io.rdma4j.spi.WaitingRoom;
import org.jspecify.annotations.Nullable;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.Semaphore;

/**
 * Who sleeps in the network: a thread that waits for an event, or else the background thread.
 *
 * <p>There is one place. Guests who find it taken stand in line; whoever leaves offers it to them. Why no
 * wake-up is lost: ADR 28.
 */
final class EngineWaiters implements WaitingRoom {
    private final EngineDriver driver;
    private final Runnable wake;
    private final Semaphore place = new Semaphore(1);
    /** Guarded by itself. */
    private final SequencedSet<Guest> line = new LinkedHashSet<>();
    private volatile boolean isOccupied;
    private volatile boolean isBackgroundAsleep;
    private volatile long lastVisitNs;
    private volatile long lastUrgentVisitNs;
    /** Who is in makes room for urgent guests. */
    private volatile boolean isGivingWay;

    /** For who has the place. */
    private @Nullable Guest present;
    private boolean hasMoreToDo;
    private final AdaptiveSpin linger;
    private long visits;
    private volatile long lastVisit;

    EngineWaiters(EngineDriver driver, long nowNs) {
        this.driver = driver;
        wake = driver::wake;
        lastVisitNs = nowNs - EngineDriver.POLLING_NS;
        lastUrgentVisitNs = lastVisitNs;
        linger = new AdaptiveSpin(nowNs);
    }

    // ---------------------------------------------------------------- for threads that wait

    @Override
    public boolean tryEnter(Guest guest) {
        driver.stopAttending();
        if (Thread.currentThread().isVirtual()) {
            // It would take its carrier along to sleep.
            if (!isOccupied) {
                driver.wakeBackground();
            }
            return false;
        }
        if (tryOccupy(guest)) {
            return true;
        }
        synchronized (line) {
            line.add(guest);
        }
        if (isBackgroundAsleep || (isGivingWay && guest.isUrgent())) {
            driver.wake();
        }
        // Who has left since may have seen nobody in the line.
        if (tryOccupy(guest)) {
            forget(guest);
            return true;
        }
        return false;
    }

    private boolean tryOccupy(Guest guest) {
        if (!driver.isServed() || driver.isPolled()
                || (!guest.isUrgent() && isUrgentGuestExpected()) || !place.tryAcquire()) {
            return false;
        }
        present = guest;
        isGivingWay = !guest.isUrgent();
        hasMoreToDo = false;
        lastVisit = ++visits;
        isOccupied = true;
        return true;
    }

    @Override
    public void stay(long timeoutNs) {
        long nowNs = driver.nowNs();
        long endNs = nowNs + timeoutNs;
        // Beyond the end of time it is for ever.
        long untilNs = endNs < nowNs ? Long.MAX_VALUE : endNs;
        try {
            while (!isWanted() && driver.isServed() && !driver.isPolled() && nowNs < untilNs) {
                long dueNs = driver.serve(present, linger);
                hasMoreToDo = dueNs == EngineDriver.AT_ONCE;
                nowNs = driver.nowNs();
                if (!hasMoreToDo && !isWanted() && !linger.goesOn(nowNs)) {
                    sleep(Math.min(dueNs, untilNs));
                    nowNs = driver.nowNs();
                }
            }
        } catch (RuntimeException | Error fatal) {
            driver.fail(fatal);
        }
    }

    private void sleep(long untilNs) {
        // Not around the round: files and sockets that it uses are watched in the same way.
        InterruptStatus status = InterruptStatus.ofCurrentThread();
        status.watch(wake);
        try {
            driver.sleep(untilNs, linger);
        } finally {
            status.unwatch();
        }
    }

    @Override
    public void leave() {
        boolean isWorkLeft = hasMoreToDo;
        long nowNs = driver.nowNs();
        // With work left nobody shall wait for this thread to come back.
        lastVisitNs = isWorkLeft ? nowNs - EngineDriver.POLLING_NS : nowNs;
        if (!isGivingWay) {
            lastUrgentVisitNs = nowNs;
        }
        isGivingWay = false;
        // Who sleeps next may do so by what it knew before.
        driver.noteTraffic(nowNs);
        present = null;
        isOccupied = false;
        place.release();
        handOver();
        driver.onLeft(isWorkLeft);
    }

    @Override
    public void wake() {
        driver.wake();
    }

    @Override
    public void waitElsewhere() {
        driver.stopAttending();
        if (isOccupied) {
            return;
        }
        // Who has left a moment ago may have been this very thread.
        lastVisitNs = driver.nowNs() - EngineDriver.POLLING_NS;
        if (!isBackgroundAsleep) {
            driver.wakeBackground();
        }
    }

    @Override
    public void forget(Guest guest) {
        synchronized (line) {
            line.remove(guest);
        }
    }

    // ---------------------------------------------------------------- for who sleeps in the network

    /** {@return whether who is about to sleep has something better to do} */
    boolean isWanted() {
        Guest guest = present;
        if (guest == null) {
            return hasLine(isUrgentGuestExpected());
        }
        return guest.isDone() || Thread.currentThread().isInterrupted()
                || (!guest.isUrgent() && hasLine(true));
    }

    private boolean hasLine(boolean ofUrgent) {
        synchronized (line) {
            return next(ofUrgent) != null;
        }
    }

    /** {@return whether an urgent guest has just left, or is about to enter} */
    private boolean isUrgentGuestExpected() {
        return driver.nowNs() - lastUrgentVisitNs < EngineDriver.POLLING_NS || hasLine(true);
    }

    // ---------------------------------------------------------------- for the background thread

    /** {@return whether a guest drives the engine} */
    boolean isOccupied() {
        return isOccupied;
    }

    /** {@return the number of the last visit} */
    long lastVisit() {
        return lastVisit;
    }

    /** {@return when the last guest has left} */
    long lastVisitNs() {
        return lastVisitNs;
    }

    /** Sleeps in the network after a round, unless a guest does or wants to. */
    void sleepInBackground(long untilNs, AdaptiveSpin ofBackground) {
        if (handOver()) {
            return;
        }
        if (!place.tryAcquire()) {
            // The guest does not know what that round has changed.
            driver.noteTraffic(driver.nowNs());
            return;
        }
        try {
            isBackgroundAsleep = true;
            driver.sleep(untilNs, ofBackground);
        } finally {
            isBackgroundAsleep = false;
            place.release();
        }
    }

    /** Offers the place to the first in the line who still waits, and may come in. {@return whether there was one} */
    private boolean handOver() {
        for (Guest next = first(); next != null; next = first()) {
            if (next.isUrgent()) {
                // It has been invited: nobody else slips in before it.
                lastUrgentVisitNs = driver.nowNs();
            }
            if (next.offer()) {
                lastVisitNs = driver.nowNs();
                return true;
            }
        }
        return false;
    }

    private @Nullable Guest first() {
        boolean ofUrgent = isUrgentGuestExpected();
        synchronized (line) {
            Guest first = next(ofUrgent);
            if (first != null) {
                line.remove(first);
            }
            return first;
        }
    }

    private @Nullable Guest next(boolean ofUrgent) {
        // Mostly nobody stands there, and even to find that out an iterator would be garbage.
        if (line.isEmpty()) {
            return null;
        }
        for (Guest guest : line) {
            if (!ofUrgent || guest.isUrgent()) {
                return guest;
            }
        }
        return null;
    }

    /** The driver has ended: waits until nobody uses the network. Who enters after that does not. */
    void close() {
        place.acquireUninterruptibly();
        place.release();
    }
}
