// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.work.Registration;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * The payloads that one writer has lent in its ring and that are not returned: the reader has not said that it has read their
 * records. For the writer's thread.
 */
final class Loans {
    /** No queue pair: a response may arrive after its queue pair has failed. */
    static final int NO_QUEUE_PAIR = -1;

    private final MemorySegment records;
    /** A ring of entries, oldest first. */
    private int mask = 15;
    private @Nullable Registration[] registrations = new Registration[mask + 1];
    private long[] places = new long[mask + 1];
    private long[] ends = new long[mask + 1];
    private int[] withdrawals = new int[mask + 1];
    private int[] lengths = new int[mask + 1];
    private int[] queuePairs = new int[mask + 1];
    private int oldest;
    private int count;
    private int lentBytes;

    Loans(MemorySegment records) {
        this.records = records;
    }

    /** {@return the bytes that are lent} */
    int lentBytes() {
        return lentBytes;
    }

    /**
     * Something is lent.
     *
     * @param registration by which the memory may be accessed
     * @param queuePair the peer's, if it is of a request; otherwise {@link #NO_QUEUE_PAIR}
     * @param place where it is in the pages that can be lent
     * @param end the position behind its record
     * @param withdrawalAt the place in the ring of the word that withdraws it
     */
    void add(Registration registration, int queuePair, long place, int length, long end,
            int withdrawalAt) {
        if (count > mask) {
            grow();
        }
        int at = oldest + count & mask;
        registrations[at] = registration;
        queuePairs[at] = queuePair;
        places[at] = place;
        lengths[at] = length;
        ends[at] = end;
        withdrawals[at] = withdrawalAt;
        count++;
        lentBytes += length;
    }

    private void grow() {
        int size = mask + 1;
        // What is at the beginning of the ring continues behind its end.
        registrations = Arrays.copyOf(registrations, 2 * size);
        System.arraycopy(registrations, 0, registrations, size, size);
        places = doubled(places);
        ends = doubled(ends);
        withdrawals = doubled(withdrawals);
        lengths = doubled(lengths);
        queuePairs = doubled(queuePairs);
        mask = 2 * size - 1;
    }

    private static long[] doubled(long[] from) {
        long[] to = Arrays.copyOf(from, 2 * from.length);
        System.arraycopy(from, 0, to, from.length, from.length);
        return to;
    }

    private static int[] doubled(int[] from) {
        int[] to = Arrays.copyOf(from, 2 * from.length);
        System.arraycopy(from, 0, to, from.length, from.length);
        return to;
    }

    /** The reader has read all before a position. */
    void returned(long head) {
        while (count > 0 && ends[oldest] <= head) {
            registrations[oldest] = null;
            lentBytes -= lengths[oldest];
            oldest = oldest + 1 & mask;
            count--;
        }
    }

    /** {@return the position that the reader has to reach until no more than some bytes are lent, 0 if no more are} */
    long positionOf(int bytes) {
        int left = lentBytes;
        long position = 0;
        for (int i = 0; i < count && left > bytes; i++) {
            int at = oldest + i & mask;
            left -= lengths[at];
            position = ends[at];
        }
        return position;
    }

    // ---------------------------------------------------------------- withdrawing

    /** Withdraws what a registration has allowed: nothing of it is delivered any more. */
    void withdraw(Registration ended) {
        withdrawWhere(at -> ended.equals(registrations[at]));
    }

    /** Withdraws what is in a part of the pages. */
    void withdraw(long place, long byteSize) {
        withdrawWhere(at -> places[at] < place + byteSize && place < places[at] + lengths[at]);
    }

    /** Withdraws the requests to a queue pair. */
    void withdrawRequests(int queuePair) {
        withdrawWhere(at -> queuePairs[at] == queuePair);
    }

    /** Withdraws everything. */
    void withdrawAll() {
        withdrawWhere(_ -> true);
    }

    private void withdrawWhere(IntPredicate isMeant) {
        for (int i = 0; i < count; i++) {
            int at = oldest + i & mask;
            if (isMeant.test(at)) {
                RingLayout.setLong(records, withdrawals[at], 1);
            }
        }
        // The memory is changed after that; the reader reads the memory first, and then whether it is withdrawn.
        VarHandle.fullFence();
    }
}
