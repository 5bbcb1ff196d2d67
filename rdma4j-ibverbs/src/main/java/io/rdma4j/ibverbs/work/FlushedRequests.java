// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What queue pairs have lost in a driver that never completes requests that are posted after the end
 * ({@code DriverFaults.losesLateRequests}): they complete as flushed, after all completions of the driver. Any thread adds; one
 * thread at a time takes.
 *
 * <p>What was added before the driver's queue was found empty may be taken: after that the driver reports no success of it
 * ({@link LostRequests}).
 */
public final class FlushedRequests {
    private final Deque<LostRequests> lost = new ArrayDeque<>();
    /** How many were added and removed. Both are written under the monitor. */
    private volatile long added;
    private volatile long removed;

    public synchronized void add(LostRequests work) {
        lost.add(work);
        added = added + 1;
    }

    /** A queue pair is closed: removes what it has lost. */
    public synchronized void removeOf(int queuePair) {
        int before = lost.size();
        lost.removeIf(each -> each.queuePair() == queuePair);
        removed = removed + before - lost.size();
    }

    /** {@return how many were added so far} */
    public long added() {
        return added;
    }

    /** {@return whether something was added that was not taken entirely} */
    public boolean isPending() {
        return removed != added;
    }

    /**
     * Takes completions of one queue. All that were taken before must have been read.
     *
     * @param into an array of {@code struct ibv_wc}
     * @param most how many it holds, at least 1
     * @param known what {@link #added} returned before the driver's queue was found empty
     * @return how many were taken; if none, no more were known
     */
    public synchronized int take(MemorySegment into, int most, long known) {
        int filled = 0;
        while (filled == 0 && removed < known) {
            LostRequests first = lost.element();
            while (filled < most && first.hasNext()) {
                write(into, filled++ * Layout.WorkCompletion.SIZE, first);
            }
            if (!first.hasNext()) {
                lost.remove();
                removed = removed + 1;
            }
        }
        return filled;
    }

    private static void write(MemorySegment into, long at, LostRequests work) {
        into.asSlice(at, Layout.WorkCompletion.SIZE).fill((byte) 0);
        Native.putLong(into, at + Layout.WorkCompletion.WR_ID, work.next());
        Native.putInt(into, at + Layout.WorkCompletion.STATUS,
                WorkCompletionStatus.WORK_REQUEST_FLUSHED.code());
        Native.putInt(into, at + Layout.WorkCompletion.QP_NUM, work.queuePair());
    }
}
