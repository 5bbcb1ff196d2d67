// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair's own receive queue. Applications post under the ring's own monitor; the engine takes and
 * releases without it.
 */
public final class ReceiveRing implements ReceiveQueue {
    private final @Nullable ReceiveRequest[] slots;
    private final int capacity;
    private final int maxElements;
    private volatile long end;
    private volatile long released;
    private long taken;

    /**
     * @param capacity the maximum number of outstanding requests
     * @param maxElements the maximum number of scatter/gather elements of a request
     */
    public ReceiveRing(int capacity, int maxElements) {
        this.capacity = capacity;
        this.maxElements = maxElements;
        slots = new ReceiveRequest[Integer.highestOneBit(Math.max(1, capacity - 1)) * 2];
    }

    /** {@return the slot for the next request, null if the queue is full} Under the ring's monitor. */
    public @Nullable ReceiveRequest free() {
        if (end - released >= capacity) {
            return null;
        }
        int index = index(end);
        ReceiveRequest slot = slots[index];
        if (slot == null) {
            slot = new ReceiveRequest(maxElements);
            slots[index] = slot;
        }
        return slot;
    }

    /** Hands the slot that {@link #free} gave to the engine. Under the ring's monitor. */
    public void post() {
        long next = end + 1;
        end = next;
    }

    @Override
    public @Nullable ReceiveRequest take() {
        return taken == end ? null : slots[index(taken++)];
    }

    @Override
    public void release(ReceiveRequest request) {
        request.release();
        long next = released + 1;
        released = next;
    }

    @Override
    public int available() {
        return (int) (end - taken);
    }

    /** {@return whether a posted request is not released} */
    public boolean isOutstanding() {
        return released != end;
    }

    @Override
    public boolean isShared() {
        return false;
    }

    private int index(long index) {
        return (int) index & slots.length - 1;
    }
}
