// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The queues of a context by a number in the upper bits of each {@code wr_id}: an index, and how often the index was used
 * before. Completions of a closed queue may come much later, and must not be taken for another queue's. Thread safe.
 */
public final class WorkLedgers {
    /** The bits that number a request within its queue. */
    public static final long NUMBERS = 0xffff_ffffL;
    private static final int PLACE_SHIFT = 32;
    private static final int PLACE_BITS = 20;
    private static final int GENERATION_SHIFT = PLACE_SHIFT + PLACE_BITS;
    private static final int MOST_PLACES = 1 << PLACE_BITS;

    private volatile @Nullable Entry[] entries = new Entry[16];
    /** How often each place has been given, of which as many bits count as are left of a {@code wr_id}. */
    private int[] generations = new int[16];
    private int next;

    private record Entry(long tag, WorkLedger ledger) {}

    /** {@return the upper bits for a queue} Indexes are reused as late as possible. */
    public synchronized long add(WorkLedger ledger) {
        @Nullable
        Entry[] known = entries;
        int place = free(known);
        if (place < 0) {
            place = known.length;
            if (place == MOST_PLACES) {
                throw new IllegalStateException("a context has at most " + MOST_PLACES
                        + " queues; close some first");
            }
            known = Arrays.copyOf(known, 2 * place);
            generations = Arrays.copyOf(generations, 2 * place);
        }
        long tag = (long) generations[place]++ << GENERATION_SHIFT | (long) place << PLACE_SHIFT;
        known[place] = new Entry(tag, ledger);
        entries = known;
        next = place + 1;
        return tag;
    }

    private int free(@Nullable Entry[] known) {
        for (int i = 0; i < known.length; i++) {
            int place = (next + i) % known.length;
            if (known[place] == null) {
                return place;
            }
        }
        return -1;
    }

    private static int place(long workRequestId) {
        return (int) (workRequestId >>> PLACE_SHIFT) & MOST_PLACES - 1;
    }

    /** A queue is closed. */
    public synchronized void remove(long tag) {
        @Nullable
        Entry[] known = entries;
        known[place(tag)] = null;
        entries = known;
    }

    /** {@return the queue of a {@code wr_id}, null if it is closed} */
    @Nullable
    public WorkLedger of(long workRequestId) {
        @Nullable
        Entry[] known = entries;
        int place = place(workRequestId);
        Entry entry = place < known.length ? known[place] : null;
        return entry != null && entry.tag == (workRequestId & ~NUMBERS) ? entry.ledger : null;
    }
}
