package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.WorkCompletionOpcode;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/** The receives of a shared queue, which complete in any order and are reported to several completion queues. Thread safe. */
final class SharedWork implements WorkLedger {
    private final ReentrantLock lock = new ReentrantLock();
    private long[] ids;
    private int[] free;
    private boolean[] isPosted;
    private int freeCount;

    SharedWork(int capacity) {
        ids = new long[capacity];
        free = new int[capacity];
        isPosted = new boolean[capacity];
        for (int i = 0; i < capacity; i++) {
            free[i] = i;
        }
        freeCount = capacity;
    }

    /** Makes room for so many; less is not taken away. */
    void grow(int capacity) {
        lock.lock();
        try {
            int known = ids.length;
            if (capacity > known) {
                ids = Arrays.copyOf(ids, capacity);
                isPosted = Arrays.copyOf(isPosted, capacity);
                free = Arrays.copyOf(free, capacity);
                for (int i = known; i < capacity; i++) {
                    free[freeCount++] = i;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** {@return the number of a request, -1 if there is no room} */
    long begin(long id) {
        lock.lock();
        try {
            if (freeCount == 0) {
                return -1;
            }
            int place = free[--freeCount];
            ids[place] = id;
            isPosted[place] = true;
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** A request was refused. */
    void takeBack(long number) {
        lock.lock();
        try {
            release((int) number);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean complete(long number, Completed into) {
        lock.lock();
        try {
            if (number >= ids.length || !isPosted[(int) number]) {
                return false;
            }
            into.id = ids[(int) number];
            into.opcode = WorkCompletionOpcode.RECEIVE.code();
            release((int) number);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void release(int place) {
        isPosted[place] = false;
        free[freeCount++] = place;
    }
}
