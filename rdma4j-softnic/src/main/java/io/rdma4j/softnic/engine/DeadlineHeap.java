package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Queue pairs by their next deadline, the earliest on top: a binary heap that stores the index of each
 * queue pair.
 */
final class DeadlineHeap {
    static final long NEVER = Long.MAX_VALUE;

    private @Nullable EngineQueuePair[] heap = new EngineQueuePair[16];
    private int size;

    /** {@return the earliest deadline, {@link #NEVER} if there is none} */
    long earliestNs() {
        return size == 0 ? NEVER : at(0).deadlineNs;
    }

    /** {@return the queue pair with the earliest deadline, if that has passed} */
    @Nullable
    EngineQueuePair due(long nowNs) {
        return size > 0 && at(0).deadlineNs <= nowNs ? at(0) : null;
    }

    /** Sets a queue pair's deadline, {@link #NEVER} for none. */
    void update(EngineQueuePair queuePair, long deadlineNs) {
        if (queuePair.deadlineNs == deadlineNs) {
            return;
        }
        if (size == heap.length) {
            // Before anything is changed: memory may be short.
            heap = Arrays.copyOf(heap, 2 * size);
        }
        queuePair.deadlineNs = deadlineNs;
        if (deadlineNs == NEVER) {
            remove(queuePair);
        } else if (queuePair.heapIndex < 0) {
            place(queuePair, size++);
            siftUp(queuePair.heapIndex);
        } else {
            siftUp(queuePair.heapIndex);
            siftDown(queuePair.heapIndex);
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
            if (at(parent).deadlineNs <= at(index).deadlineNs) {
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
            if (child + 1 < size && at(child + 1).deadlineNs < at(child).deadlineNs) {
                child++;
            }
            if (at(index).deadlineNs <= at(child).deadlineNs) {
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
