// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
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
    /** How long a thread that looks for packets leaves a selector alone that it waits for as well. */
    private static final long BETWEEN_SELECTIONS_NS = 5_000;

    private final EngineDriver driver;
    private final Runnable wake;
    private final Semaphore place = new Semaphore(1);
    /** Guarded by itself. */
    private final SequencedSet<Waiter> line = new LinkedHashSet<>();
    private volatile boolean isOccupied;
    /** The thread in the place may have to wait for a carrier at any moment. */
    private volatile boolean isOccupantVirtual;
    private volatile boolean isBackgroundAsleep;
    private volatile long lastDrivenNs;
    private volatile long lastUrgentDriveNs;
    /** The thread in the place leaves it to urgent waiters. */
    private volatile boolean isGivingWay;

    /** Only for the thread that has the place. */
    private @Nullable Waiter present;
    private boolean hasMoreToDo;
    private long occupiedNs;
    private final AdaptiveSpin spin;
    private final BriefDrives brief = new BriefDrives();
    private final WaiterReturns returns = new WaiterReturns();
    private long drives;
    private volatile long lastDrive;

    EngineWaiters(EngineDriver driver, LongSupplier clock, ProcessorContention contention) {
        this.driver = driver;
        wake = driver::wake;
        lastDrivenNs = clock.getAsLong() - PollPace.POLLING_NS;
        lastUrgentDriveNs = lastDrivenNs;
        spin = new AdaptiveSpin(clock, contention);
    }

    // ---------------------------------------------------------------- for threads that wait

    @Override
    public boolean tryAcquire(Waiter waiter) {
        driver.stopAttending();
        boolean isVirtual = Thread.currentThread().isVirtual();
        boolean mayDrive = !isVirtual || brief.isPromising();
        if (mayDrive && tryOccupy(waiter)) {
            return true;
        }
        // A virtual thread queues only where the one in the place leaves it at once.
        if (isVirtual && !(mayDrive && isGivingWay && waiter.isUrgent())) {
            if (!isOccupied) {
                leaveToBackground();
            }
            return false;
        }
        synchronized (line) {
            line.add(waiter);
        }
        if (isBackgroundAsleep || (isGivingWay && waiter.isUrgent())) {
            driver.wake();
        }
        // A thread that has left since may have seen an empty line.
        if (tryOccupy(waiter)) {
            forget(waiter);
            return true;
        }
        return false;
    }

    private boolean tryOccupy(Waiter waiter) {
        long nowNs = driver.nowNs();
        if (!driver.isServed() || driver.isPolled(nowNs)
                || (!waiter.isUrgent() && isUrgentWaiterExpected()) || !place.tryAcquire()) {
            return false;
        }
        returns.onReturn(nowNs);
        occupiedNs = nowNs;
        present = waiter;
        isGivingWay = !waiter.isUrgent();
        hasMoreToDo = false;
        lastDrive = ++drives;
        isOccupantVirtual = Thread.currentThread().isVirtual();
        isOccupied = true;
        return true;
    }

    @Override
    public boolean canAwait(Selector selector) {
        return driver.canAwait(selector);
    }

    @Override
    public void drive(long timeoutNs) {
        driveBeside(timeoutNs, null);
    }

    @Override
    public void drive(long timeoutNs, Selector selector) {
        driveBeside(timeoutNs, selector);
    }

    private void driveBeside(long timeoutNs, @Nullable Selector selector) {
        long nowNs = driver.nowNs();
        long endNs = nowNs + timeoutNs;
        // An overflow means without end.
        long untilNs = endNs < nowNs ? Long.MAX_VALUE : endNs;
        try {
            if (Thread.currentThread().isVirtual()) {
                driveBriefly(nowNs, untilNs);
                return;
            }
            long selectedNs = nowNs;
            boolean isSelected = false;
            while (!isSelected && !isWanted() && driver.isServed() && !driver.isPolled(nowNs)
                    && nowNs < untilNs) {
                long dueNs = driver.serve(present, spin);
                hasMoreToDo = dueNs == EngineDriver.AT_ONCE;
                nowNs = driver.nowNs();
                if (!hasMoreToDo && !isWanted() && !spin.goesOn(nowNs)) {
                    isSelected = sleep(Math.min(dueNs, untilNs), selector);
                    nowNs = driver.nowNs();
                    selectedNs = nowNs;
                } else if (selector != null && nowNs - selectedNs > BETWEEN_SELECTIONS_NS) {
                    isSelected = driver.hasSomething(selector);
                    selectedNs = nowNs;
                }
            }
        } catch (RuntimeException fatal) {
            driver.fail(fatal);
        } catch (Error failure) {
            // It may be of this thread alone, which has little stack left.
            if (!driver.isLeftToBackground(failure)) {
                throw failure;
            }
        }
    }

    /** A virtual thread would take its carrier along to sleep. Between rounds, other virtual threads use the carrier. */
    @SuppressWarnings("ThreadPriorityCheck") // Only speed depends on it.
    private void driveBriefly(long startNs, long untilNs) {
        long durationNs = brief.durationNs();
        long lastNs = startNs;
        long yieldedNs = startNs;
        long nowNs = startNs;
        while (!isWanted() && driver.isServed() && !driver.isPolled(nowNs) && nowNs < untilNs
                && nowNs - lastNs < durationNs) {
            hasMoreToDo = driver.serve(present, spin) == EngineDriver.AT_ONCE;
            if (spin.hasReceived()) {
                lastNs = nowNs;
            }
            if (spin.hasReceived() || nowNs - yieldedNs > BriefDrives.BETWEEN_YIELDS_NS) {
                yieldedNs = nowNs;
                Thread.yield();
            }
            nowNs = driver.nowNs();
        }
    }

    private boolean sleep(long untilNs, @Nullable Selector selector) {
        // Not around the round: files and sockets that it uses are watched in the same way.
        InterruptStatus status = InterruptStatus.ofCurrentThread();
        status.watch(wake);
        try {
            return driver.sleep(untilNs, spin, selector);
        } finally {
            status.unwatch();
        }
    }

    @Override
    public void release() {
        long nowNs = driver.nowNs();
        boolean isWorkLeft = hasMoreToDo;
        if (Thread.currentThread().isVirtual()) {
            Waiter waiter = present;
            boolean isDone = waiter != null && waiter.isDone();
            brief.onEnd(isDone, nowNs - occupiedNs);
            // It parks now, and does not come back by itself.
            isWorkLeft |= !isDone;
        } else if (hasMoreToDo) {
            isWorkLeft = !returns.isExpected(nowNs);
        }
        // With work left, no thread waits for this one, unless it comes back soon.
        lastDrivenNs = isWorkLeft ? nowNs - PollPace.POLLING_NS : nowNs;
        if (!isGivingWay) {
            lastUrgentDriveNs = nowNs;
        }
        isGivingWay = false;
        // The next thread to sleep may do so by an older state.
        driver.wakeIfDueEarlier(nowNs);
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
        if (!isOccupied) {
            leaveToBackground();
        }
    }

    private void leaveToBackground() {
        // This thread itself may have left a moment ago.
        lastDrivenNs = driver.nowNs() - PollPace.POLLING_NS;
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

    /** {@return whether the thread that is about to sleep is needed elsewhere} */
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
        return driver.nowNs() - lastUrgentDriveNs < PollPace.POLLING_NS || hasLine(true);
    }

    // ---------------------------------------------------------------- for threads that poll

    /** Takes the place for a poller, which is not asked to leave it. {@return whether it was free} */
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

    /**
     * {@return whether the waiter that drives the engine may stand still} Between rounds a virtual thread gives its carrier to others,
     * and has to wait for one.
     */
    boolean mayStandStill() {
        return isOccupantVirtual;
    }

    /** {@return the number of the last drive} */
    long lastDrive() {
        return lastDrive;
    }

    /** {@return when the last waiter has left} */
    long lastDrivenNs() {
        return lastDrivenNs;
    }

    /**
     * Sleeps in the network after a round, unless a waiter sleeps there or wants to.
     *
     * @return false if another thread has the place, which will run the next round
     */
    boolean sleepInBackground(long untilNs, AdaptiveSpin ofBackground) {
        // Who has the place offers it itself when it leaves.
        if (!isOccupied && handOver()) {
            return true;
        }
        if (!place.tryAcquire()) {
            // That thread does not know what this round has changed.
            driver.noteTraffic(driver.nowNs());
            return false;
        }
        try {
            isBackgroundAsleep = true;
            driver.sleep(untilNs, ofBackground, null);
        } finally {
            isBackgroundAsleep = false;
            place.release();
        }
        return true;
    }

    /**
     * Offers the place to the first thread in the line that still waits and may have it. {@return whether there was one}
     */
    private boolean handOver() {
        for (Waiter next = first(); next != null; next = first()) {
            if (next.isUrgent()) {
                // The thread was invited: no other thread takes the place before it.
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
        // The line is mostly empty, and even an iterator of an empty line would be garbage.
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

    /** The driver has ended: waits until no thread uses the network. Threads that come later do not use it. */
    void close() {
        place.acquireUninterruptibly();
        place.release();
    }
}
