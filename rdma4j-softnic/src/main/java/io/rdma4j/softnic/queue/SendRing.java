package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.queue.SendQueue;
import io.rdma4j.protocol.queue.SendRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A send queue. Applications post under the ring's own monitor; the engine reads and retires without it.
 */
public final class SendRing implements SendQueue {
    private final @Nullable SendRequest[] slots;
    private final int capacity;
    private final int maxElements;
    private final int maxInlineData;
    private final @Nullable MemorySegment inlineMemory;
    private volatile long end;
    private volatile long retired;

    /**
     * @param capacity requests that may be outstanding
     * @param maxElements scatter/gather elements of each
     * @param maxInlineData bytes of inline data of each
     */
    public SendRing(int capacity, int maxElements, int maxInlineData) {
        this.capacity = capacity;
        this.maxElements = maxElements;
        this.maxInlineData = maxInlineData;
        slots = new SendRequest[Integer.highestOneBit(Math.max(1, capacity - 1)) * 2];
        inlineMemory = maxInlineData == 0
                ? null
                : Arena.ofAuto().allocate((long) slots.length * maxInlineData, 64);
    }

    /** {@return the slot for the next request, null if the queue is full} Under the ring's monitor. */
    public @Nullable SendRequest free() {
        if (end - retired >= capacity) {
            return null;
        }
        int index = index(end);
        SendRequest slot = slots[index];
        if (slot == null) {
            slot = new SendRequest(maxElements, inlineMemory == null
                    ? null
                    : inlineMemory.asSlice((long) index * maxInlineData, maxInlineData));
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
    public long end() {
        return end;
    }

    @Override
    public SendRequest request(long index) {
        SendRequest slot = slots[index(index)];
        if (slot == null) {
            throw new IllegalStateException("request " + index + " was not posted");
        }
        return slot;
    }

    @Override
    public void retire() {
        long next = retired + 1;
        retired = next;
    }

    @Override
    public void clear() {
        retired = end;
    }

    private int index(long index) {
        return (int) index & slots.length - 1;
    }
}
