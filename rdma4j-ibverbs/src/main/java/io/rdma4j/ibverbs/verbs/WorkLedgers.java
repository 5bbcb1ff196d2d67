package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The queues of a context by a number of theirs, which stands in the upper bits of each {@code wr_id}. Thread safe.
 */
final class WorkLedgers {
    /** The bits that number a request within its queue. */
    static final long NUMBERS = (1L << 40) - 1;
    private static final int SHIFT = 40;

    private volatile @Nullable WorkLedger[] ledgers = new WorkLedger[16];
    private int next;

    /** {@return what stands in the upper bits for a queue} Numbers are used again as late as possible. */
    synchronized long add(WorkLedger ledger) {
        @Nullable
        WorkLedger[] known = ledgers;
        int place = free(known);
        if (place < 0) {
            place = known.length;
            known = Arrays.copyOf(known, 2 * known.length);
        }
        known[place] = ledger;
        ledgers = known;
        next = place + 1;
        return (long) place << SHIFT;
    }

    private int free(@Nullable WorkLedger[] known) {
        for (int i = 0; i < known.length; i++) {
            int place = (next + i) % known.length;
            if (known[place] == null) {
                return place;
            }
        }
        return -1;
    }

    /** A queue is closed. */
    synchronized void remove(long tag) {
        @Nullable
        WorkLedger[] known = ledgers;
        known[(int) (tag >>> SHIFT)] = null;
        ledgers = known;
    }

    /** {@return the queue of a {@code wr_id}, null if it is closed} */
    @Nullable
    WorkLedger of(long workRequestId) {
        @Nullable
        WorkLedger[] known = ledgers;
        long place = workRequestId >>> SHIFT;
        return place < known.length ? known[(int) place] : null;
    }
}
