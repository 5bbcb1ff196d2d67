// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceWatch;
import io.rdma4j.verbs.RdmaDevices;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Runs a task after each change of the devices of this machine, and from time to time while the task leaves something undone,
 * in a thread that lives as long as there is something to do: opening a device may take long, and must not delay those who
 * report the change. Thread safe.
 */
final class DeviceFollower {
    private static final System.Logger LOG = System.getLogger(DeviceFollower.class.getName());

    /** A device that fails whenever it is opened, or interfaces that come and go all the time, shall not fill the processor. */
    private static final int MOST_RUNS_OF_A_SECOND = 20;
    private static final long SECOND_NS = 1_000_000_000;
    /** What is left undone is tried again after this, because nobody reports that another process has given something back. */
    private static final long PAUSE_NS = SECOND_NS;

    private final BooleanSupplier task;
    private final long pauseNs;
    /** When the present second began, and how many runs it has had. For the thread that runs. */
    private long secondNs;
    private int runs;
    /** Null while it follows nothing, or if no provider reports changes. Guarded by this. */
    private @Nullable DeviceWatch watch;
    /** Guarded by this. */
    private boolean isFollowing;
    /** Guarded by this. */
    private boolean isRunning;
    /** There was a change that the last run may have missed, or it is time to try again. Guarded by this. */
    private boolean isDue;
    /** Something was left undone. Guarded by this. */
    private boolean isLeft;

    /** @param task returns whether it leaves something undone that may succeed without a change of the devices */
    DeviceFollower(BooleanSupplier task) {
        this(task, PAUSE_NS);
    }

    /**
     * With another pause.
     *
     * @param task returns whether it leaves something undone that may succeed without a change of the devices
     * @param pauseNs how long after that it is tried again
     */
    DeviceFollower(BooleanSupplier task, long pauseNs) {
        this.task = task;
        this.pauseNs = pauseNs;
    }

    /** Begins to follow. What is looked at after this call misses no change. */
    void start() {
        DeviceWatch begun = RdmaDevices.watch(this::onChange);
        synchronized (this) {
            watch = begun;
            isFollowing = true;
        }
    }

    /** {@return whether changes are reported} */
    synchronized boolean isNotified() {
        return watch != null;
    }

    /** Something has changed: the task runs soon. It takes no lock of a device. */
    void onChange() {
        synchronized (this) {
            if (!isFollowing) {
                return;
            }
            isDue = true;
            notifyAll();
            if (isRunning) {
                return;
            }
            isRunning = true;
        }
        startThread();
    }

    /** Something was left undone that may succeed without a change: the task runs again after a second. */
    void tryLater() {
        synchronized (this) {
            if (!isFollowing) {
                return;
            }
            isLeft = true;
            if (isRunning) {
                return;
            }
            isRunning = true;
        }
        startThread();
    }

    private void startThread() {
        boolean isStarted = false;
        try {
            Thread.ofPlatform().daemon().name("rdma4j-listen").start(this::run);
            isStarted = true;
        } catch (OutOfMemoryError noThread) {
            LOG.log(System.Logger.Level.DEBUG, "the next change of devices is followed", noThread);
        } finally {
            if (!isStarted) {
                end();
            }
        }
    }

    private synchronized void end() {
        isRunning = false;
    }

    private void run() {
        while (takesOne()) {
            try {
                rest();
                if (task.getAsBoolean()) {
                    tryLater();
                }
            } catch (RuntimeException | Error failed) {
                LOG.log(System.Logger.Level.WARNING, "a change of devices was not followed",
                        failed);
            }
        }
    }

    private void rest() {
        long leftNs = secondNs + SECOND_NS - System.nanoTime();
        if (runs >= MOST_RUNS_OF_A_SECOND && leftNs > 0) {
            LockSupport.parkNanos(leftNs);
            leftNs = 0;
        }
        if (runs == 0 || leftNs <= 0) {
            secondNs = System.nanoTime();
            runs = 0;
        }
        runs++;
    }

    private synchronized boolean takesOne() {
        awaitDue();
        isRunning = isDue && isFollowing;
        isDue = false;
        isLeft = false;
        return isRunning;
    }

    /** While something is left undone, waits for a change, or until it is time to try again. */
    private synchronized void awaitDue() {
        long sinceNs = System.nanoTime();
        while (isLeft && !isDue && isFollowing) {
            long leftNs = sinceNs + pauseNs - System.nanoTime();
            if (leftNs <= 0) {
                isDue = true;
                return;
            }
            try {
                // A millisecond too much, because zero would be for ever.
                wait(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
            } catch (InterruptedException e) {
                // No code interrupts this thread on purpose; it looks again.
                isDue = true;
            }
        }
    }

    /** Follows no more. A run that has begun goes on. Idempotent. */
    void stop() {
        DeviceWatch ended;
        synchronized (this) {
            ended = watch;
            watch = null;
            isFollowing = false;
            notifyAll();
        }
        if (ended != null) {
            ended.close();
        }
    }
}
