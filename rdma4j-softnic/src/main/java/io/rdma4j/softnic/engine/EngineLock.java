// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which thread owns an engine. Threads that wait for it queue, but virtual ones do not: the one at the head may have no carrier while
 * others compute, for as long as they do, and would keep all threads out of an engine that is free.
 */
final class EngineLock {
    /** How long a virtual thread tries at a time. A round of the engine takes less. */
    private static final long ATTEMPT_NS = 20_000;
    private static final long LONGEST_PAUSE_NS = 1_000_000;

    /** Fair: otherwise, under steady traffic, the background thread would keep waiting tasks out. */
    final ReentrantLock lock = new ReentrantLock(true);
    private final Runnable afterAttempt;
    /** How many threads want it at this moment. While there are any, pollers step back, or they would always win the race. */
    final AtomicInteger waiting = new AtomicInteger();

    /**
     * @param afterAttempt called by a virtual thread that has tried in vain: others may have left it work, as whoever wants the engine does
     *        it once it has it
     */
    EngineLock(Runnable afterAttempt) {
        this.afterAttempt = afterAttempt;
    }

    /** Waits until the engine is free; pollers step back meanwhile. */
    void enter() {
        if (lock.tryLock()) {
            return;
        }
        if (Thread.currentThread().isVirtual()) {
            enterWithoutQueue();
            return;
        }
        waiting.incrementAndGet();
        try {
            lock.lock();
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** Waits until the engine is free; pollers step back at most while a virtual thread tries. */
    void enterBesidePollers() {
        if (!Thread.currentThread().isVirtual()) {
            lock.lock();
        } else if (!lock.tryLock()) {
            enterWithoutQueue();
        }
    }

    /** Pollers step back only while this thread runs. */
    @SuppressWarnings("ThreadPriorityCheck") // Only speed depends on it.
    private void enterWithoutQueue() {
        long pauseNs = ATTEMPT_NS;
        while (!isEnteredSoon()) {
            afterAttempt.run();
            LockSupport.parkNanos(this, pauseNs);
            // An interrupt ends pauses, and must not keep the carrier.
            Thread.yield();
            pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        }
    }

    private boolean isEnteredSoon() {
        waiting.incrementAndGet();
        try {
            long endNs = System.nanoTime() + ATTEMPT_NS;
            do {
                if (lock.tryLock()) {
                    return true;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() < endNs);
            // Once more: the system may have kept this thread waiting meanwhile, and others have stepped back for it.
            return lock.tryLock();
        } finally {
            waiting.decrementAndGet();
        }
    }
}
