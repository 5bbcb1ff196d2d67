// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue's requests. Applications post under the ring's monitor; the engine takes without it.
 *
 * <p>A request that a queue pair takes is copied into the queue pair's own slot ({@link #view}), so that
 * requests may end in any order.
 */
public final class SharedReceiveRing {
    private final int maxElements;
    private final Runnable onLimit;
    /** Those from {@code taken} up to {@code end}; replaced by larger ones when they are all in use. */
    private volatile ReceiveSlots slots;
    private int capacity;
    private volatile long end;
    private volatile long taken;
    private volatile int limit;
    private volatile boolean isStarved;

    /**
     * @param capacity the maximum number of outstanding requests
     * @param maxElements the maximum number of scatter/gather elements of a request
     * @param onLimit called by the engine when fewer requests than the armed limit are left
     */
    public SharedReceiveRing(int capacity, int maxElements, Runnable onLimit) {
        this.capacity = capacity;
        this.maxElements = maxElements;
        this.onLimit = onLimit;
        slots = ReceiveSlots.first(capacity, maxElements);
    }

    /** {@return the maximum number of outstanding requests} */
    public synchronized int capacity() {
        return capacity;
    }

    /** {@return the armed limit, 0 if none is} */
    public int limit() {
        return limit;
    }

    /** {@return the number of requests that can be taken} */
    public int available() {
        return (int) (end - taken);
    }

    /** Posts a copy of a request; its elements fit. {@return false if the queue is full} */
    public synchronized boolean post(ReceiveWorkRequest request) {
        long next = end;
        long oldest = taken;
        long outstanding = next - oldest;
        if (outstanding >= capacity) {
            return false;
        }
        ReceiveSlots present = slots;
        if (outstanding == present.count()) {
            present = present.grown(oldest, next);
            slots = present;
        }
        present.put(next, request);
        end = next + 1;
        return true;
    }

    /** {@return whether a queue pair found the queue empty since the last call} */
    public boolean takeStarved() {
        if (!isStarved) {
            return false;
        }
        isStarved = false;
        return true;
    }

    // ---------------------------------------------------------------- for the engine's owner

    /** Requests one call when fewer requests than a limit are left; 0 cancels it. */
    public void arm(int newLimit) {
        limit = newLimit;
        checkLimit();
    }

    /**
     * Changes the capacity.
     *
     * @return false if more requests than that are outstanding
     */
    public synchronized boolean resize(int newCapacity) {
        if (end - taken > newCapacity) {
            return false;
        }
        capacity = newCapacity;
        return true;
    }

    private boolean take(ReceiveRequest into) {
        if (taken == end) {
            isStarved = true;
            // A request posted at this moment did not see that it is waited for.
            if (taken == end) {
                return false;
            }
        }
        slots.get(taken, into);
        long next = taken + 1;
        taken = next;
        checkLimit();
        return true;
    }

    private void checkLimit() {
        if (limit > 0 && available() < limit) {
            limit = 0;
            onLimit.run();
        }
    }

    /** {@return the queue as one queue pair sees it, which holds at most one request at a time} */
    public ReceiveQueue view() {
        return new View();
    }

    private final class View implements ReceiveQueue {
        private final ReceiveRequest held = new ReceiveRequest(maxElements);

        @Override
        public @Nullable ReceiveRequest take() {
            return SharedReceiveRing.this.take(held) ? held : null;
        }

        @Override
        public void release(ReceiveRequest request) {
            request.release();
        }

        @Override
        public int available() {
            if (SharedReceiveRing.this.available() == 0) {
                // The caller was notified of a request that another queue pair has taken: it continues to
                // wait.
                isStarved = true;
            }
            return SharedReceiveRing.this.available();
        }

        @Override
        public boolean isShared() {
            return true;
        }
    }
}
