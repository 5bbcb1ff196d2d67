package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import org.jspecify.annotations.Nullable;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;

/**
 * Decides which thread sleeps in the network: one that waits for an event, or else the background thread.
 *
 * <p>Only one thread at a time has the place. Waiters that find it taken queue, and a thread that leaves offers it to them.
 * ADR 28 says why no wake-up is lost.
 */
final class EngineWaiters implements ProgressDriver {
    private final EngineDriver driver;
    private final Runnable wake;
    private final Semaphore place = new Semaphore(1);
    /** Guarded by itself. */
    private final SequencedSet<Waiter> line = new LinkedHashSet<>();
    private volatile boolean isOccupied;
    private volatile boolean isBackgroundAsleep;
    private volatile long lastDrivenNs;
    private volatile long lastUrgentDriveNs;
    /** Who is in makes room for urgent waiters. */
    private volatile boolean isGivingWay;

    /** For who has the place. */
    private @Nullable Waiter present;
    private boolean hasMoreToDo;
    private final AdaptiveSpin spin;
    private long drives;
    private volatile long lastDrive;

    EngineWaiters(EngineDriver driver, LongSupplier clock) {
        this.driver = driver;
        wake = driver::wake;
        lastDrivenNs = clock.getAsLong() - EngineDriver.POLLING_NS;
        lastUrgentDriveNs = lastDrivenNs;
        spin = new AdaptiveSpin(clock);
    }

    // ---------------------------------------------------------------- for threads that wait

    @Override
    public boolean tryAcquire(Waiter waiter) {
        driver.stopAttending();
        if (Thread.currentThread().isVirtual()) {
            // It would take its carrier along to sleep.
            if (!isOccupied) {
                driver.wakeBackground();
            }
            return false;
        }
        if (tryOccupy(waiter)) {
            return true;
        }
        synchronized (line) {
            line.add(waiter);
        }
        if (isBackgroundAsleep || (isGivingWay && waiter.isUrgent())) {
            driver.wake();
        }
        // Who has left since may have seen nobody in the line.
        if (tryOccupy(waiter)) {
            forget(waiter);
            return true;
        }
        return false;
    }

    private boolean tryOccupy(Waiter waiter) {
        if (!driver.isServed() || driver.isPolled()
                || (!waiter.isUrgent() && isUrgentWaiterExpected()) || !place.tryAcquire()) {
            return false;
        }
        present = waiter;
        isGivingWay = !waiter.isUrgent();
        hasMoreToDo = false;
        lastDrive = ++drives;
        isOccupied = true;
        return true;
    }

    @Override
    public void drive(long timeoutNs) {
        long nowNs = driver.nowNs();
        long endNs = nowNs + timeoutNs;
        // Beyond the end of time it is for ever.
        long untilNs = endNs < nowNs ? Long.MAX_VALUE : endNs;
        try {
            while (!isWanted() && driver.isServed() && !driver.isPolled() && nowNs < untilNs) {
                long dueNs = driver.serve(present, spin);
                hasMoreToDo = dueNs == EngineDriver.AT_ONCE;
                nowNs = driver.nowNs();
                if (!hasMoreToDo && !isWanted() && !spin.goesOn(nowNs)) {
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
            driver.sleep(untilNs, spin);
        } finally {
            status.unwatch();
        }
    }

    @Override
    public void release() {
        boolean isWorkLeft = hasMoreToDo;
        long nowNs = driver.nowNs();
        // With work left nobody shall wait for this thread to come back.
        lastDrivenNs = isWorkLeft ? nowNs - EngineDriver.POLLING_NS : nowNs;
        if (!isGivingWay) {
            lastUrgentDriveNs = nowNs;
        }
        isGivingWay = false;
        // A thread that sleeps next may do so by what it knew before.
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
        lastDrivenNs = driver.nowNs() - EngineDriver.POLLING_NS;
        if (!isBackgroundAsleep) {
            driver.wakeBackground();
        }
    }

    @Override
    public void forget(Waiter waiter) {
        synchronized (line) {
            line.remove(waiter);
        }
    }

    // ---------------------------------------------------------------- for the thread that sleeps in the network

    /** {@return whether who is about to sleep has something better to do} */
    boolean isWanted() {
        Waiter waiter = present;
        if (waiter == null) {
            return hasLine(isUrgentWaiterExpected());
        }
        return waiter.isDone() || Thread.currentThread().isInterrupted()
                || (!waiter.isUrgent() && hasLine(true));
    }

    private boolean hasLine(boolean ofUrgent) {
        synchronized (line) {
            return next(ofUrgent) != null;
        }
    }

    /** {@return whether an urgent waiter has just left, or is about to enter} */
    private boolean isUrgentWaiterExpected() {
        return driver.nowNs() - lastUrgentDriveNs < EngineDriver.POLLING_NS || hasLine(true);
    }

    // ---------------------------------------------------------------- for threads that poll

    /** Takes the place for a poller, who is not to be asked for it. {@return whether it was free} */
    boolean tryTakePlace() {
        return driver.isServed() && place.tryAcquire();
    }

    /** Gives the place back without offering it: a thread that polls also serves the threads that wait. */
    void leavePlace() {
        place.release();
    }

    // ---------------------------------------------------------------- for the background thread

    /** {@return whether a waiter drives the engine} */
    boolean isOccupied() {
        return isOccupied;
    }

    /** {@return the number of the last drive} */
    long lastDrive() {
        return lastDrive;
    }

    /** {@return when the last waiter has left} */
    long lastDrivenNs() {
        return lastDrivenNs;
    }

    /** Sleeps in the network after a round, unless a waiter does or wants to. */
    void sleepInBackground(long untilNs, AdaptiveSpin ofBackground) {
        if (handOver()) {
            return;
        }
        if (!place.tryAcquire()) {
            // The waiter does not know what that round has changed.
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
        for (Waiter next = first(); next != null; next = first()) {
            if (next.isUrgent()) {
                // It has been invited: nobody else slips in before it.
                lastUrgentDriveNs = driver.nowNs();
            }
            if (next.onDriverFree()) {
                lastDrivenNs = driver.nowNs();
                return true;
            }
        }
        return false;
    }

    private @Nullable Waiter first() {
        boolean ofUrgent = isUrgentWaiterExpected();
        synchronized (line) {
            Waiter first = next(ofUrgent);
            if (first != null) {
                line.remove(first);
            }
            return first;
        }
    }

    private @Nullable Waiter next(boolean ofUrgent) {
        // Mostly nobody stands there, and even to find that out an iterator would be garbage.
        if (line.isEmpty()) {
            return null;
        }
        for (Waiter waiter : line) {
            if (!ofUrgent || waiter.isUrgent()) {
                return waiter;
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
