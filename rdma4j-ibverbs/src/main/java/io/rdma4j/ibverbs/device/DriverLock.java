// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Replaces the lock of a completion queue in the driver, which takes none for a queue of one thread: the thread that polls
 * may differ from the one that frees or resets a queue pair, which removes completions from the queue. Held for one call of
 * the library, and taken after the locks of contexts, domains and queues.
 */
public final class DriverLock {
    private final @Nullable ReentrantLock lock;

    /** @param isNeeded whether the driver takes no lock */
    public DriverLock(boolean isNeeded) {
        lock = isNeeded ? new ReentrantLock() : null;
    }

    public void lock() {
        if (lock != null) {
            lock.lock();
        }
    }

    public void unlock() {
        if (lock != null) {
            lock.unlock();
        }
    }
}
