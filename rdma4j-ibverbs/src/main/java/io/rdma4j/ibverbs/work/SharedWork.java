// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.verbs.WorkCompletionOpcode;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The outstanding receives of a shared queue, which complete in any order and in several completion queues. Each request
 * has a slot. Free slots are in two stacks: the posting thread takes from its own, and fetches the slots of completed
 * requests when that is empty; so it can put back slots of refused requests.
 */
public final class SharedWork implements WorkLedger {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile int capacity;
    private long[] ids;
    private boolean[] isPosted;
    /** Only the thread that posts uses it. */
    private int[] own;
    private int ownCount;
    private int[] returned;
    private int returnedCount;

    public SharedWork(int capacity) {
        this.capacity = capacity;
        ids = new long[capacity];
        isPosted = new boolean[capacity];
        own = new int[capacity];
        returned = new int[capacity];
        addPlaces(0, capacity);
    }

    private void addPlaces(int from, int to) {
        for (int place = from; place < to; place++) {
            returned[returnedCount++] = place;
        }
    }

    /** Grows to a number of slots; never shrinks. For the thread that posts. */
    public void grow(int wanted) {
        lock.lock();
        try {
            int known = ids.length;
            if (wanted > known) {
                ids = Arrays.copyOf(ids, wanted);
                isPosted = Arrays.copyOf(isPosted, wanted);
                own = Arrays.copyOf(own, wanted);
                returned = Arrays.copyOf(returned, wanted);
                addPlaces(known, wanted);
                capacity = wanted;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public boolean hasRoom(int more) {
        return ownCount >= more || fetchReturned() >= more;
    }

    /** Adds the slots of completed requests below the free ones, so that their order stays. */
    private int fetchReturned() {
        lock.lock();
        try {
            System.arraycopy(own, 0, own, returnedCount, ownCount);
            System.arraycopy(returned, 0, own, 0, returnedCount);
            ownCount += returnedCount;
            returnedCount = 0;
            return ownCount;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long note(int ahead, long id, WorkCompletionOpcode opcode, boolean isSignaled) {
        int place = own[ownCount - 1 - ahead];
        ids[place] = id;
        return place;
    }

    @Override
    public void commit(int count) {
        lock.lock();
        try {
            for (int i = 0; i < count; i++) {
                isPosted[own[--ownCount]] = true;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void takeBack(int count) {
        lock.lock();
        try {
            int first = ownCount;
            for (int i = first; i < first + count; i++) {
                int place = own[i];
                // Not if it has completed in spite of the driver's refusal: then its slot was returned already.
                if (isPosted[place]) {
                    isPosted[place] = false;
                    own[ownCount++] = place;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void accept() {
        // Only the end of a queue pair needs to know it, and this queue outlives those.
    }

    @Override
    public void onFailure() {
        // The queue goes on with other queue pairs.
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
            isPosted[(int) number] = false;
            returned[returnedCount++] = (int) number;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
