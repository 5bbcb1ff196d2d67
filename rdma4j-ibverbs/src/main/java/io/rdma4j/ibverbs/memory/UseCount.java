// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many requests name an object and are on their way to the driver, which follows its pointer: it is not freed before the
 * call that posts them is over. Thread safe, without a lock.
 */
public final class UseCount {
    /** Longer than any posting call takes. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int CLOSED = -1;

    private final AtomicInteger users = new AtomicInteger();

    /** {@return whether another request may use the object, false after it was closed} {@link #end} must follow. */
    public boolean begin() {
        int known = users.get();
        while (known != CLOSED) {
            if (users.compareAndSet(known, known + 1)) {
                return true;
            }
            known = users.get();
        }
        return false;
    }

    /** A request that names the object has been posted, or will not be. */
    public void end() {
        users.decrementAndGet();
    }

    /**
     * Waits, for a bounded time, until the requests that use the object are posted. The calling thread must not hold the
     * context's lock, which posting may need.
     */
    void awaitPosted() {
        long startNs = System.nanoTime();
        while (!closeIfUnused() && System.nanoTime() - startNs < PATIENCE_NS) {
            Thread.onSpinWait();
        }
    }

    /** {@return whether no request names it any more, nor will} */
    boolean closeIfUnused() {
        return users.get() == CLOSED || users.compareAndSet(0, CLOSED);
    }

    /**
     * No request names it from now on. Under the context's lock.
     *
     * @throws RdmaException EBUSY if one does: the calling thread is posting it itself, or another could not free it
     */
    public void close(String operation) throws RdmaException {
        if (!closeIfUnused()) {
            throw new RdmaException(Errno.EBUSY, operation,
                    "a request that names it is being posted; close it after that");
        }
    }

    /** It could not be freed after all. Under the context's lock. */
    void reopen() {
        users.compareAndSet(CLOSED, 0);
    }
}
