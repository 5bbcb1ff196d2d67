package io.rdma4j.softnic.queue;

import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue's entries. The engine adds; applications take under a lock of their own, so that
 * adding never waits.
 */
public final class CompletionRing {
    private enum Armed {
        NO, SOLICITED, ANY
    }

    private final ReentrantLock takers = new ReentrantLock();
    private final Runnable onNotify;
    private final int capacity;
    private final WorkCompletion[] slots;
    private volatile long end;
    private volatile long taken;
    private volatile Armed armed = Armed.NO;
    private volatile boolean isOverrun;

    /**
     * @param capacity completions it can hold
     * @param onNotify called by the engine when a completion arrives that was asked for
     */
    public CompletionRing(int capacity, Runnable onNotify) {
        this.capacity = capacity;
        this.onNotify = onNotify;
        slots = WorkCompletion.array(Integer.highestOneBit(Math.max(1, capacity - 1)) * 2);
    }

    /** {@return the slot for the next completion; null if the ring is full, which it never forgets} */
    public @Nullable WorkCompletion free() {
        if (end - taken >= capacity) {
            isOverrun = true;
            return null;
        }
        return slots[index(end)];
    }

    /**
     * Hands the slot that {@link #free} gave to the application.
     *
     * @param isSolicited the peer asks to be noticed, or the work failed
     */
    public void add(boolean isSolicited) {
        long next = end + 1;
        end = next;
        Armed now = armed;
        if (now == Armed.ANY || (now == Armed.SOLICITED && isSolicited)) {
            armed = Armed.NO;
            onNotify.run();
        }
    }

    /** Asks for a call when the next completion arrives. */
    public void arm(boolean solicitedOnly) {
        if (armed != Armed.ANY) {
            armed = solicitedOnly ? Armed.SOLICITED : Armed.ANY;
        }
    }

    /** {@return whether a completion was lost for want of room} */
    public boolean isOverrun() {
        return isOverrun;
    }

    /** Takes the oldest completions. {@return how many} */
    public int take(WorkCompletion[] into) {
        if (taken == end) {
            return 0;
        }
        takers.lock();
        try {
            long from = taken;
            int count = (int) Math.min(end - from, into.length);
            for (int i = 0; i < count; i++) {
                into[i].assign(slots[index(from + i)]);
            }
            taken = from + count;
            return count;
        } finally {
            takers.unlock();
        }
    }

    /** Takes the oldest completion. {@return whether there was one} */
    public boolean take(WorkCompletion into) {
        if (taken == end) {
            return false;
        }
        takers.lock();
        try {
            long from = taken;
            if (from == end) {
                return false;
            }
            into.assign(slots[index(from)]);
            taken = from + 1;
            return true;
        } finally {
            takers.unlock();
        }
    }

    private int index(long index) {
        return (int) index & slots.length - 1;
    }
}
