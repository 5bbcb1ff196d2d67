// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Runs the engine while no other thread polls or waits, and leaves it alone while one does. */
final class BackgroundThread {
    /**
     * The first interval between checks of the threads that drive the engine. Each check costs them
     * processor time, so the longer they drive it, the rarer the checks.
     */
    private static final long LEAST_PATIENCE_NS = 100_000;
    private static final long MOST_PATIENCE_NS = 4_000_000;

    private final EngineDriver driver;
    private final EngineWaiters waiters;
    private final Thread thread;
    private final AdaptiveSpin spin;
    private final ProcessorContention contention;
    /** Sleeps until a waiter leaves. */
    private volatile boolean isBackedOff;
    private long lastDrive;
    /** It has run a round of which a waiter that has come since knows nothing. */
    private boolean hasServed;
    private long patienceNs = LEAST_PATIENCE_NS;

    BackgroundThread(EngineDriver driver, EngineWaiters waiters, String name,
            LongSupplier clock, ProcessorContention contention) {
        this.driver = driver;
        this.waiters = waiters;
        this.contention = contention;
        spin = new AdaptiveSpin(clock, contention);
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /**
     * Wakes this thread while it leaves the engine to others; if it sleeps in the network, {@link
     * Link#wake} does.
     */
    void unpark() {
        LockSupport.unpark(thread);
    }

    /** Waits until it has ended. */
    void join() {
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A waiter has left, and perhaps no thread will soon do its remaining work. */
    void onWaiterLeft(boolean hasMoreToDo) {
        if (isBackedOff || hasMoreToDo) {
            unpark();
        }
    }

    private void run() {
        try {
            boolean hasFailed = false;
            while (driver.isServed()) {
                boolean isRetry = driver.isInDoubt();
                try {
                    if (isRetry) {
                        serve();
                    } else {
                        runOrStayAway();
                        hasFailed = false;
                    }
                } catch (Error failure) {
                    // Memory, for one, may be short for a moment.
                    if (isRetry || hasFailed) {
                        throw failure;
                    }
                    hasFailed = driver.isLeftToBackground(failure);
                }
            }
        } catch (RuntimeException | Error fatal) {
            driver.fail(fatal);
        }
    }

    private void runOrStayAway() {
        long attendedNs = driver.attendedForNs();
        long nowNs = driver.nowNs();
        long drivenNs = waiters.lastDrivenNs() + PollPace.POLLING_NS - nowNs;
        if (attendedNs > 0) {
            LockSupport.parkNanos(driver, Math.max(Math.max(attendedNs, drivenNs), patienceNs));
            patienceNs = Math.min(2 * patienceNs, MOST_PATIENCE_NS);
            return;
        }
        patienceNs = LEAST_PATIENCE_NS;
        if (drivenNs > 0) {
            LockSupport.parkNanos(driver, drivenNs + restNs(nowNs));
        } else if (waiters.isOccupied()) {
            noteRounds();
            backOff();
        } else {
            long dueNs = serve();
            if (dueNs != EngineDriver.AT_ONCE && !spin.goesOn(driver.nowNs())
                    && !waiters.sleepInBackground(dueNs, spin)) {
                // It sleeps there for a moment and then polls, or has just come to wait.
                LockSupport.parkNanos(driver, PollPace.POLLING_NS);
            }
        }
    }

    /**
     * {@return how much longer than usual this thread leaves waiters alone} Where others want the processor, each check takes it from
     * them, and waiters that come and go would be checked a thousand times a second.
     */
    private long restNs(long nowNs) {
        return contention.isContended(nowNs) ? MOST_PATIENCE_NS - PollPace.POLLING_NS : 0;
    }

    private long serve() {
        hasServed = true;
        return driver.serve(null, spin);
    }

    /** A waiter has come: it may sleep, or be about to, by what was before the last round of this thread. */
    private void noteRounds() {
        if (hasServed) {
            hasServed = false;
            driver.noteTraffic(driver.nowNs());
        }
    }

    /**
     * A waiter drives the engine: this thread need not be woken until waiters have become rare. If the waiter may stand still, rounds
     * are run beside it, in case it does.
     */
    private void backOff() {
        long drive = waiters.lastDrive();
        if (drive != lastDrive) {
            lastDrive = drive;
            LockSupport.parkNanos(driver, PollPace.POLLING_NS + restNs(driver.nowNs()));
            return;
        }
        if (waiters.mayStandStill()) {
            if (serve() != EngineDriver.AT_ONCE) {
                LockSupport.parkNanos(driver, PollPace.POLLING_NS);
            }
            return;
        }
        isBackedOff = true;
        // Checked after the announcement: a waiter that left before did not see it.
        if (waiters.isOccupied() && driver.isServed()) {
            LockSupport.park(driver);
        }
        isBackedOff = false;
    }
}
