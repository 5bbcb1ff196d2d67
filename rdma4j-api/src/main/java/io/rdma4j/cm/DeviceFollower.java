package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceWatch;
import io.rdma4j.verbs.RdmaDevices;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.LockSupport;

/**
 * Runs a task after each change of the devices of this machine, in a thread that lives as long as there is something to do:
 * opening a device may take long, and must not delay those who report the change. Thread safe.
 */
final class DeviceFollower {
    private static final System.Logger LOG = System.getLogger(DeviceFollower.class.getName());

    /** A device that fails whenever it is opened, or interfaces that come and go all the time, shall not fill the processor. */
    private static final int MOST_RUNS_OF_A_SECOND = 20;
    private static final long SECOND_NS = 1_000_000_000;

    private final Runnable task;
    /** When the present second began, and how many runs it has had. For the thread that runs. */
    private long secondNs;
    private int runs;
    /** Null while it follows nothing, or if no provider reports changes. Guarded by this. */
    private @Nullable DeviceWatch watch;
    /** Guarded by this. */
    private boolean isRunning;
    /** There was a change that the last run may have missed. Guarded by this. */
    private boolean isDue;

    DeviceFollower(Runnable task) {
        this.task = task;
    }

    /** Begins to follow. What is looked at after this call misses no change. */
    void start() {
        DeviceWatch begun = RdmaDevices.watch(this::onChange);
        synchronized (this) {
            watch = begun;
        }
    }

    /** {@return whether changes are reported} */
    synchronized boolean isTold() {
        return watch != null;
    }

    /** Something has changed: the task runs soon. It takes no lock of a device. */
    void onChange() {
        synchronized (this) {
            if (watch == null) {
                return;
            }
            isDue = true;
            if (isRunning) {
                return;
            }
            isRunning = true;
        }
        boolean isStarted = false;
        try {
            Thread.ofPlatform().daemon().name("rdma4j-listen").start(this::run);
            isStarted = true;
        } finally {
            if (!isStarted) {
                // Without memory for a thread; the next change tries again.
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
                task.run();
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
        isRunning = isDue && watch != null;
        isDue = false;
        return isRunning;
    }

    /** Follows no more. A run that has begun goes on. Idempotent. */
    void stop() {
        DeviceWatch ended;
        synchronized (this) {
            ended = watch;
            watch = null;
        }
        if (ended != null) {
            ended.close();
        }
    }
}
