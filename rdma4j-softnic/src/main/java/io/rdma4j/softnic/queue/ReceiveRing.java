// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair's own receive queue. Applications post under the ring's own monitor; the engine takes and
 * releases without it.
 */
public final class ReceiveRing implements ReceiveQueue {
    private final int capacity;
    private final int maxElements;
    /** Those from {@code released} up to {@code end}; replaced by larger ones when they are all in use. */
    private volatile ReceiveSlots slots;
    private volatile long end;
    private volatile long released;
    private long taken;
    /** What the next request is taken in. A protocol has one at a time. */
    private @Nullable ReceiveRequest spare;

    /**
     * @param capacity the maximum number of outstanding requests
     * @param maxElements the maximum number of scatter/gather elements of a request
     */
    public ReceiveRing(int capacity, int maxElements) {
        this.capacity = capacity;
        this.maxElements = maxElements;
        slots = ReceiveSlots.first(capacity, maxElements);
    }

    /** Posts a copy of a request; its elements fit. {@return false if the queue is full} Under the ring's monitor. */
    public boolean post(ReceiveWorkRequest request) {
        long next = end;
        long oldest = released;
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

    @Override
    public @Nullable ReceiveRequest take() {
        long next = taken;
        if (next == end) {
            return null;
        }
        ReceiveRequest request = spare == null ? new ReceiveRequest(maxElements) : spare;
        spare = null;
        slots.get(next, request);
        taken = next + 1;
        return request;
    }

    @Override
    public void release(ReceiveRequest request) {
        request.release();
        spare = request;
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
}
