// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The outstanding requests of a queue, in order: a completion also completes all requests posted before it. One thread posts
 * at a time, one polls.
 *
 * <p>The device's {@code wr_id} contains the queue and the position in it, so that a completion identifies its queue pair,
 * and its operation even if it failed, where C leaves the operation undefined.
 */
public final class OutstandingWork implements WorkLedger {
    private final int capacity;
    private final long[] ids;
    private final byte[] opcodes;
    private final boolean[] isSignaled;
    /**
     * The posting thread writes {@code posted} under a lock, which orders its writes. {@code completed} is written by the
     * polling thread and by {@link #clear}.
     */
    private final AtomicLong posted = new AtomicLong();
    private final AtomicLong completed = new AtomicLong();
    /** The number after the last request that is not taken back any more. */
    private final AtomicLong accepted = new AtomicLong();
    /** Whether one has failed: then all after it fail. */
    private volatile boolean hasFailed;

    public OutstandingWork(int capacity) {
        this.capacity = capacity;
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        ids = new long[slots];
        opcodes = new byte[slots];
        isSignaled = new boolean[slots];
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public boolean hasRoom(int more) {
        return posted.get() - completed.get() + more <= capacity;
    }

    /** {@return whether a request has not completed} */
    public boolean isOutstanding() {
        return posted.get() != completed.get();
    }

    /** {@return what has not completed} A request that is posted or completes meanwhile may count or not. */
    public Outstanding outstanding() {
        long end = posted.get();
        long first = completed.get();
        for (long number = first; number < end; number++) {
            if (isSignaled[(int) number & isSignaled.length - 1]) {
                return Outstanding.COMPLETING;
            }
        }
        return first < end ? Outstanding.UNSIGNALED : Outstanding.NOTHING;
    }

    @Override
    public long note(int ahead, long id, WorkCompletionOpcode opcode, boolean isSignaled) {
        long number = posted.get() + ahead;
        int slot = (int) number & ids.length - 1;
        ids[slot] = id;
        opcodes[slot] = (byte) opcode.code();
        this.isSignaled[slot] = isSignaled;
        return number & WorkLedgers.NUMBERS;
    }

    @Override
    public void commit(int count) {
        posted.setRelease(posted.getPlain() + count);
    }

    @Override
    public void takeBack(int count) {
        posted.setRelease(posted.getPlain() - count);
    }

    @Override
    public void accept() {
        accepted.setRelease(posted.getPlain());
    }

    @Override
    public void onFailure() {
        hasFailed = true;
    }

    /** {@return the number after the last request that is not taken back any more} */
    long acceptedEnd() {
        return accepted.get();
    }

    /** {@return the number of the first request that has not completed} */
    long firstOutstanding() {
        return completed.get();
    }

    /**
     * {@return the number of the first outstanding request that cannot have succeeded, if the queue pair has ended and all
     * completions were read} If none has failed, unsignaled ones before the first signaled one can have succeeded.
     *
     * @param end the number at which to stop, and the result if there is none
     */
    long firstLost(long end) {
        long number = firstOutstanding();
        while (!hasFailed && number < end && !isSignaled[(int) number & isSignaled.length - 1]) {
            number++;
        }
        return Math.min(number, end);
    }

    @Override
    public boolean complete(long number, Completed into) {
        long first = completed.get();
        long ahead = number - first & WorkLedgers.NUMBERS;
        if (ahead >= posted.get() - first) {
            return false;
        }
        int slot = (int) (first + ahead) & ids.length - 1;
        into.id = ids[slot];
        into.opcode = opcodes[slot] & 0xff;
        // Fails if all were cleared since: then the completion is of a queue that was reset.
        return completed.compareAndSet(first, first + ahead + 1);
    }

    /** Forgets all outstanding requests. No thread may post meanwhile; one may poll. */
    public void clear() {
        completed.set(posted.get());
        hasFailed = false;
    }
}
