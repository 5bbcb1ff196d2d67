// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Threads that wait for the same. One of them may drive a device meanwhile ({@link ProgressDriver}), the one that has published
 * last; the others sleep here. Devices that no thread drives are told so: they go on by themselves, and need not expect that a
 * thread which has polled them comes back.
 *
 * <p>All but what a driver calls is under the lock.
 */
final class Waiters implements ProgressDriver.Waiter {
    private final ReentrantLock lock;
    private final Condition alerted;
    private final boolean isUrgent;
    /** What a thread that waits knows is another number, or it need not wait any more. Changes under the lock. */
    private volatile long state;
    /** Of the devices that publish for these threads, and how often they were given. */
    private final Map<ProgressDriver, Integer> drivers = new LinkedHashMap<>();
    /** The same, to go through without garbage. */
    private ProgressDriver[] all = {};
    /** The one that a thread drives while it waits; null if there is none. */
    private @Nullable ProgressDriver preferred;
    private final WaitTimer timer = new WaitTimer(this);
    /** The thread that drives a device, which one, and what it has seen. */
    private @Nullable Thread drivingThread;
    private @Nullable ProgressDriver driven;
    private long drivenSince;
    /** Threads that wait in a selector, and so cannot be signalled. */
    private final SelectingThreads selecting = new SelectingThreads();

    /**
     * @param lock guards the events that threads wait for
     * @param isUrgent as {@link ProgressDriver.Waiter#isUrgent}
     */
    Waiters(ReentrantLock lock, boolean isUrgent) {
        this.lock = lock;
        this.isUrgent = isUrgent;
        alerted = lock.newCondition();
    }

    // ---------------------------------------------------------------- for drivers

    @Override
    public boolean isDone() {
        // Without the lock: a thread that drives asks several times in each round.
        return state != drivenSince;
    }

    /** {@return the number that tells what has happened} For any thread, without the lock. */
    long state() {
        return state;
    }

    /** {@return whether something is there, as by {@link #show}} For any thread, without the lock. */
    boolean isShown() {
        return state != 0;
    }

    @Override
    public boolean isUrgent() {
        return isUrgent;
    }

    @Override
    public boolean onDriverFree() {
        lock.lock();
        try {
            boolean isWaiting = lock.hasWaiters(alerted) || !selecting.isEmpty();
            alerted.signal();
            selecting.wakeAll();
            return isWaiting;
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- under the lock

    /** Sets the number that tells what has happened. Who waits by another one has to be alerted. */
    void state(long newState) {
        if (newState != state) {
            state = newState;
        }
    }

    /** As {@link #state(long)}, where threads wait until something is there: 1 if there is, and 0 if there is nothing. */
    void show(boolean isThere) {
        state(isThere ? 1 : 0);
    }

    /** Waits until something is there, as by {@link #show}, or time is up. */
    void awaitShown(long timeoutNs) throws InterruptedException {
        await(0, timeoutNs);
    }

    /** Lets threads drive a device while they wait; as often as {@link #removeDriver}. */
    void addDriver(ProgressDriver driver) {
        if (driver.equals(ProgressDriver.NONE)) {
            return;
        }
        drivers.merge(driver, 1, Integer::sum);
        all = drivers.keySet().toArray(ProgressDriver[]::new);
        if (preferred == null) {
            preferred = driver;
        }
    }

    /** A device has published: more may follow from there. */
    void prefer(ProgressDriver driver) {
        if (!driver.equals(preferred) && drivers.containsKey(driver)) {
            preferred = driver;
        }
    }

    /** A device publishes less. The thread that drives it at the moment goes on to do so. */
    void removeDriver(ProgressDriver driver) {
        if (driver.equals(ProgressDriver.NONE)) {
            return;
        }
        int left = drivers.getOrDefault(driver, 0) - 1;
        if (left > 0) {
            drivers.put(driver, left);
            return;
        }
        drivers.remove(driver);
        driver.forget(this);
        all = drivers.keySet().toArray(ProgressDriver[]::new);
        if (driver.equals(preferred)) {
            preferred = all.length == 0 ? null : all[0];
        }
        if (all.length == 0 && !lock.hasWaiters(alerted)) {
            timer.stop();
        }
    }

    /** Does something with each driver as often as it was added. */
    void forEachDriver(Consumer<ProgressDriver> action) {
        drivers.forEach((driver, times) -> {
            for (int i = 0; i < times; i++) {
                action.accept(driver);
            }
        });
    }

    /** {@return whether any thread waits} */
    boolean areThere() {
        return driven != null || lock.hasWaiters(alerted) || !selecting.isEmpty();
    }

    /** Makes one of the threads that wait look whether it is done. */
    void alertOne() {
        if (isDrivingThread()) {
            return;
        }
        if (lock.hasWaiters(alerted)) {
            alerted.signal();
        } else if (!selecting.isEmpty()) {
            selecting.wakeOne();
        } else {
            wakeDrivingThread();
        }
    }

    /** Makes all threads that wait look whether they are done. */
    void alertAll() {
        alerted.signalAll();
        selecting.wakeAll();
        if (!isDrivingThread()) {
            wakeDrivingThread();
        }
    }

    /** {@return whether the caller is the thread that drives} It looks by itself before it sleeps again. */
    private boolean isDrivingThread() {
        return Thread.currentThread().equals(drivingThread);
    }

    /** The calling thread is about to wait where it drives no device. */
    void waitElsewhere() {
        for (ProgressDriver each : all) {
            each.waitElsewhere();
        }
    }

    private void wakeDrivingThread() {
        if (driven != null) {
            driven.wake();
        }
    }

    /**
     * Waits until the state is another one, or time is up.
     *
     * @param since the {@link #state} that the caller knows
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    void await(long since, long timeoutNs) throws InterruptedException {
        boolean isVirtual = Thread.currentThread().isVirtual();
        boolean hasDriven = false;
        long remainingNs = timeoutNs;
        while (state == since && remainingNs > 0) {
            // A virtual thread drives briefly, and then sleeps here until it is alerted.
            ProgressDriver acquired = hasDriven && isVirtual ? null : acquire();
            hasDriven = acquired != null;
            long startNs = System.nanoTime();
            if (acquired != null) {
                drive(acquired, since, remainingNs, null);
            } else if (isVirtual) {
                if (remainingNs != Long.MAX_VALUE) {
                    timer.ringBefore(startNs + remainingNs);
                }
                alerted.await();
            } else {
                long _ = alerted.awaitNanos(remainingNs);
            }
            if (remainingNs != Long.MAX_VALUE) {
                remainingNs -= System.nanoTime() - startNs;
            }
        }
    }

    /**
     * Waits until something is there, as by {@link #show}, until a selector has something for a selection, or until time is up. It may also
     * end with nothing at all. A thread that cannot drive, or whose driver cannot wait for a selector as well, waits in the selector and
     * is woken there.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     * @param selector its monitor is the calling thread's
     */
    void awaitShown(long timeoutNs, Selector selector) throws InterruptedException, IOException {
        ProgressDriver able = ableToAwait(selector);
        if (state != 0) {
            return;
        }
        // Another one may be preferred since.
        boolean canDrive = able != null && able.equals(preferred);
        ProgressDriver acquired = canDrive ? acquire() : null;
        if (acquired != null) {
            drive(acquired, 0, timeoutNs, selector);
            return;
        }
        if (!canDrive) {
            waitElsewhere();
        }
        selecting.enter(selector);
        lock.unlock();
        try {
            SelectingThreads.select(selector, timeoutNs);
        } finally {
            lock.lock();
            selecting.leave(selector);
        }
        if (state == 0 && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** {@return the preferred driver, null if it cannot await a selector} Without the lock meanwhile: to find out, the first time, takes long. */
    private @Nullable ProgressDriver ableToAwait(Selector selector) {
        ProgressDriver wanted = preferred;
        if (wanted == null || Thread.currentThread().isVirtual()) {
            return null;
        }
        lock.unlock();
        try {
            return wanted.canAwait(selector) ? wanted : null;
        } finally {
            lock.lock();
        }
    }

    /** The time of a virtual thread may be up. */
    void onTimer() {
        lock.lock();
        try {
            timer.hasRung();
            alerted.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** {@return the device that this thread drives now, null if it has to sleep here} */
    private @Nullable ProgressDriver acquire() {
        ProgressDriver wanted = preferred;
        // One of these threads drives one device, or who publishes would have to wake several.
        boolean isOtherDriven = driven != null && !driven.equals(wanted);
        for (ProgressDriver other : all) {
            if (!other.equals(wanted)) {
                other.waitElsewhere();
            }
        }
        return wanted != null && !isOtherDriven && wanted.tryAcquire(this) ? wanted : null;
    }

    private void drive(ProgressDriver acquired, long since, long timeoutNs,
            @Nullable Selector selector) throws InterruptedException {
        drivingThread = Thread.currentThread();
        driven = acquired;
        drivenSince = since;
        lock.unlock();
        try {
            if (selector == null) {
                acquired.drive(timeoutNs);
            } else {
                acquired.drive(timeoutNs, selector);
            }
        } finally {
            acquired.release();
            lock.lock();
            // Another thread may have taken its place since.
            if (Thread.currentThread().equals(drivingThread)) {
                drivingThread = null;
                driven = null;
            }
        }
        // As for a thread that sleeps on a condition: what came first counts.
        if (state == since && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** {@return a time-out in nanoseconds, {@link Long#MAX_VALUE} for one that is longer} */
    static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }
}
