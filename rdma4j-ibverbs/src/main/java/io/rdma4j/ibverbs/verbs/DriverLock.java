package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Stands for the lock of a completion queue in the driver, which takes none for a queue of one thread: the one that polls is
 * not the one that frees a queue pair, or resets it, which cleans the queue of its completions. Held for one call of the
 * library, and taken after every other lock.
 */
final class DriverLock {
    private final @Nullable ReentrantLock lock;

    /** @param isNeeded whether the driver takes none */
    DriverLock(boolean isNeeded) {
        lock = isNeeded ? new ReentrantLock() : null;
    }

    void lock() {
        if (lock != null) {
            lock.lock();
        }
    }

    void unlock() {
        if (lock != null) {
            lock.unlock();
        }
    }
}
