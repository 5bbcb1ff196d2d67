// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How threads of the application wait for their connection: one leads the engine meanwhile, if it can, and is woken as the leader; others sleep at a
 * condition of the connection's lock. Thread safe.
 */
final class ConnectionWait {
    private final Leadership engine;
    private final ReentrantLock lock;
    /** What a thread waits for that leads meanwhile. Under the lock. */
    private @Nullable Done ledFor;

    /** What is waited for. Under the lock. */
    interface Done {
        boolean isDone();
    }

    /** @param lock of the connection */
    ConnectionWait(Leadership engine, ReentrantLock lock) {
        this.engine = engine;
        this.lock = lock;
    }

    /**
     * Waits until it is done; it may also return before, if another thread takes over. An interrupted thread returns at once; but one that sleeps, and does not
     * lead, only if the time has an end.
     *
     * @param condition signalled when it is
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    void await(Condition condition, Done done, long timeoutNs) {
        long endNs = timeoutNs == Long.MAX_VALUE ? Long.MAX_VALUE : System.nanoTime() + timeoutNs;
        if (engine.tryLead()) {
            try {
                ledFor(done);
                engine.lead(() -> holds(done), endNs);
                if (holds(done)) {
                    engine.onServed();
                }
            } finally {
                ledFor(null);
                engine.stopLeading();
            }
        } else {
            sleep(condition, done, endNs);
        }
    }

    /** Who changes what the leader waits for wakes it. */
    private void ledFor(@Nullable Done done) {
        lock.lock();
        try {
            ledFor = done;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether it is done} Takes the lock. */
    boolean holds(Done done) {
        lock.lock();
        try {
            return done.isDone();
        } finally {
            lock.unlock();
        }
    }

    private void sleep(Condition condition, Done done, long endNs) {
        engine.onSleep();
        lock.lock();
        try {
            while (!done.isDone()) {
                if (endNs == Long.MAX_VALUE) {
                    condition.awaitUninterruptibly();
                    continue;
                }
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    return;
                }
                long _ = condition.awaitNanos(leftNs);
            }
        } catch (InterruptedException e) {
            // The channel is being closed by that, and says so.
            Thread.currentThread().interrupt();
        } finally {
            boolean isDone = done.isDone();
            lock.unlock();
            engine.onAwake();
            if (isDone) {
                engine.onServed();
            }
        }
    }

    /** Something has changed: wakes the leader if it is what that waits for. Under the lock. */
    void signal() {
        Done wanted = ledFor;
        if (wanted != null && wanted.isDone()) {
            engine.wakeLeader();
        }
    }
}
