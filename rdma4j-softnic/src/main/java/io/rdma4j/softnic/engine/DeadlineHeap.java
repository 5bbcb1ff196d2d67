// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Queue pairs by their next deadline, the earliest on top: a binary heap that stores the index of each queue pair.
 *
 * <p>A deadline that becomes later, as with each message that is answered, does not move its queue pair at once, but when the
 * earlier one has come or somebody asks for the earliest.
 */
final class DeadlineHeap {
    static final long NEVER = Long.MAX_VALUE;

    private @Nullable EngineQueuePair[] heap = new EngineQueuePair[16];
    private int size;

    /** {@return the earliest deadline, {@link #NEVER} if there is none} */
    long earliestNs() {
        settleTop();
        return size == 0 ? NEVER : at(0).deadlineNs;
    }

    /** {@return the queue pair with the earliest deadline, if that has passed} */
    @Nullable
    EngineQueuePair due(long nowNs) {
        if (size == 0 || at(0).heapNs > nowNs) {
            return null;
        }
        settleTop();
        return size > 0 && at(0).deadlineNs <= nowNs ? at(0) : null;
    }

    /** Sets a queue pair's deadline, {@link #NEVER} for none. */
    void update(EngineQueuePair queuePair, long deadlineNs) {
        if (queuePair.deadlineNs == deadlineNs) {
            return;
        }
        if (queuePair.heapIndex >= 0) {
            queuePair.deadlineNs = deadlineNs;
            if (deadlineNs < queuePair.heapNs) {
                queuePair.heapNs = deadlineNs;
                siftUp(queuePair.heapIndex);
            }
            return;
        }
        if (size == heap.length) {
            // Before anything is changed: memory may be short.
            heap = Arrays.copyOf(heap, 2 * size);
        }
        queuePair.deadlineNs = deadlineNs;
        queuePair.heapNs = deadlineNs;
        place(queuePair, size++);
        siftUp(queuePair.heapIndex);
    }

    /** Removes a queue pair that has no deadline any more. */
    void forget(EngineQueuePair queuePair) {
        queuePair.deadlineNs = NEVER;
        remove(queuePair);
    }

    /** Moves those from the top whose deadlines have become later. */
    private void settleTop() {
        while (size > 0) {
            EngineQueuePair top = at(0);
            if (top.heapNs == top.deadlineNs) {
                return;
            }
            if (top.deadlineNs == NEVER) {
                remove(top);
            } else {
                top.heapNs = top.deadlineNs;
                siftDown(0);
            }
        }
    }

    private void remove(EngineQueuePair queuePair) {
        int index = queuePair.heapIndex;
        if (index < 0) {
            return;
        }
        queuePair.heapIndex = -1;
        EngineQueuePair last = at(--size);
        heap[size] = null;
        if (!last.equals(queuePair)) {
            place(last, index);
            siftUp(index);
            siftDown(last.heapIndex);
        }
    }

    private void siftUp(int from) {
        int index = from;
        while (index > 0) {
            int parent = (index - 1) / 2;
            if (at(parent).heapNs <= at(index).heapNs) {
                return;
            }
            swap(index, parent);
            index = parent;
        }
    }

    private void siftDown(int from) {
        int index = from;
        while (true) {
            int child = 2 * index + 1;
            if (child >= size) {
                return;
            }
            if (child + 1 < size && at(child + 1).heapNs < at(child).heapNs) {
                child++;
            }
            if (at(index).heapNs <= at(child).heapNs) {
                return;
            }
            swap(index, child);
            index = child;
        }
    }

    private void swap(int a, int b) {
        EngineQueuePair first = at(a);
        place(at(b), a);
        place(first, b);
    }

    private void place(EngineQueuePair queuePair, int index) {
        heap[index] = queuePair;
        queuePair.heapIndex = index;
    }

    private EngineQueuePair at(int index) {
        EngineQueuePair queuePair = heap[index];
        if (queuePair == null) {
            throw new IllegalStateException("the heap has a hole");
        }
        return queuePair;
    }
}
