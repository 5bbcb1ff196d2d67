// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for completions of one queue, without events in its channel. Thread safe; virtual threads may wait
 * here.
 *
 * <p>A thread that waits notes {@link #changes}, calls {@link #arm}, looks at the queue once more, and waits until the
 * number of changes differs. A device wakes one thread for a completion. That thread wakes the next when it leaves
 * ({@link #passOn}), because there may be more completions. All threads are woken when a queue pair has ended.
 */
public final class CompletionWaiters {
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable onArm;
    private final Waiters waiters;

    /** @param onArm asks for one {@link #onCompletion} when the next completion arrives */
    public CompletionWaiters(Runnable onArm) {
        this.onArm = onArm;
        waiters = new Waiters(lock, true);
    }

    // ---------------------------------------------------------------- for devices

    /** Lets threads drive the device while they wait. */
    public void addDriver(ProgressDriver driver) {
        lock.lock();
        try {
            waiters.addDriver(driver);
        } finally {
            lock.unlock();
        }
    }

    /** The queue is closed: nothing comes from the device any more. */
    public void removeDriver(ProgressDriver driver) {
        lock.lock();
        try {
            waiters.removeDriver(driver);
        } finally {
            lock.unlock();
        }
    }

    /** A completion has arrived since {@link #arm}: wakes one of the threads that wait. */
    public void onCompletion() {
        lock.lock();
        try {
            change();
            waiters.alertOne();
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair has ended: all threads that wait check whether completions can still come. */
    public void onEnd() {
        lock.lock();
        try {
            change();
            waiters.alertAll();
        } finally {
            lock.unlock();
        }
    }

    private void change() {
        waiters.state(waiters.state() + 1);
    }

    // ---------------------------------------------------------------- for threads that wait

    /** {@return how often something has changed} */
    public long changes() {
        return waiters.state();
    }

    /** Asks for a wake-up when the next completion arrives. What arrived before does not count. */
    public void arm() {
        onArm.run();
    }

    /**
     * Waits until something has changed.
     *
     * @param since the number of {@link #changes} that is known
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     * @return false if time was up before
     */
    public boolean await(long since, long timeoutNs) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        lock.lock();
        try {
            waiters.await(since, timeoutNs);
            return changes() != since;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A thread stops waiting, and wakes the next.
     *
     * @param since the number of {@link #changes} when the caller looked the last time
     * @param hasTaken whether it has taken a completion, behind which there may be others
     */
    public void passOn(long since, boolean hasTaken) {
        if (!hasTaken && changes() == since) {
            return;
        }
        lock.lock();
        try {
            if (waiters.areThere()) {
                change();
                waiters.alertOne();
            }
        } finally {
            lock.unlock();
        }
    }
}
