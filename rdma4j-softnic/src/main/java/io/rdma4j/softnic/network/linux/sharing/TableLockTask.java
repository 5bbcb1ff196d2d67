// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.verbs.RdmaException;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Work that needs the lock of the shared table, for threads that must not wait for it, because a stopped process may have it:
 * it is done at once if the lock is free, else later in a thread of its own. Thread safe.
 */
final class TableLockTask {
    /** Longer than others have the lock, if they run. */
    private static final long AT_ONCE_NS = 2_000_000;
    /** Longer than a process has it that joins while others do not answer, or while a new process starts. */
    private static final long MAX_AWAIT_NS = 1_000_000_000;

    private final TableLocks locks;
    private final Runnable work;
    private final Consumer<RdmaException> onRefused;
    private final ThreadFactory threads;
    private final Set<Thread> later = ConcurrentHashMap.newKeySet();
    /** There was no thread for it. */
    private final AtomicBoolean isLeft = new AtomicBoolean();

    /**
     * @param work what to do under the lock
     * @param onRefused what the thread of its own does instead, without the lock, if it cannot get it
     * @param threads where that comes from
     */
    TableLockTask(TableLocks locks, Runnable work, Consumer<RdmaException> onRefused,
            ThreadFactory threads) {
        this.locks = locks;
        this.work = work;
        this.onRefused = onRefused;
        this.threads = threads;
    }

    /**
     * Without the lock and without a thread it is left to {@link #doLeft}, and to whoever does the same work under the lock.
     *
     * @throws IllegalStateException if the table is closed
     */
    void doSoon() {
        if (locks.tryLock(AT_ONCE_NS)) {
            doLocked();
            return;
        }
        Thread thread = threads.newThread(this::doLater);
        later.add(thread);
        try {
            thread.start();
        } catch (OutOfMemoryError noThread) {
            later.remove(thread);
            isLeft.set(true);
        }
    }

    /** Does what there was no thread for. For a caller that comes again and again. */
    void doLeft() {
        if (isLeft.compareAndSet(true, false)) {
            doSoon();
        }
    }

    private void doLater() {
        try {
            locks.lock();
            doLocked();
        } catch (RdmaException e) {
            onRefused.accept(e);
        } finally {
            later.remove(Thread.currentThread());
        }
    }

    private void doLocked() {
        try {
            work.run();
        } finally {
            locks.unlock();
        }
    }

    /** Waits for the work that is to be done later, but not long, and also if the thread is interrupted. */
    void await() {
        long untilNs = System.nanoTime() + MAX_AWAIT_NS;
        boolean isInterrupted = false;
        for (Thread thread : later) {
            long leftNs = untilNs - System.nanoTime();
            while (thread.isAlive() && leftNs > 0) {
                try {
                    TimeUnit.NANOSECONDS.timedJoin(thread, leftNs);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
                leftNs = untilNs - System.nanoTime();
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
