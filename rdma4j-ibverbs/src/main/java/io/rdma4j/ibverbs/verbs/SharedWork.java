package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.WorkCompletionOpcode;

import java.util.concurrent.locks.ReentrantLock;

/** The receives of a shared queue, which complete in any order and are reported to several completion queues. Thread safe. */
final class SharedWork implements WorkLedger {
    private final ReentrantLock lock = new ReentrantLock();
    private final long[] ids;
    private final int[] free;
    private final boolean[] isPosted;
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
