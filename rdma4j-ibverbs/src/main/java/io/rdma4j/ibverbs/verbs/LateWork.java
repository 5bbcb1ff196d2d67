package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What queue pairs have lost in a driver that never completes requests that are posted after the end
 * ({@link DriverFaults#losesLateWork}): they complete as flushed, after all completions of the driver. Any thread adds; one
 * thread at a time takes.
 *
 * <p>What was added before the driver's queue was found empty may be taken: the driver had reported before that all it
 * will ever report ({@link LostWork}).
 */
final class LateWork {
    private final Queue<LostWork> lost = new ConcurrentLinkedQueue<>();
    private final AtomicLong added = new AtomicLong();
    private long removed;

    void add(LostWork work) {
        lost.add(work);
        added.incrementAndGet();
    }

    /** {@return how many were added so far} */
    long added() {
        return added.get();
    }

    /** {@return whether something was added that was not taken entirely} For the thread that takes. */
    boolean isPending() {
        return removed != added.get();
    }

    /**
     * Takes completions.
     *
     * @param into an array of {@code struct ibv_wc}
     * @param most how many it holds
     * @param known what {@link #added} returned before the driver's queue was found empty
     * @return how many were taken
     */
    int take(MemorySegment into, int most, long known) {
        int filled = 0;
        while (removed < known) {
            LostWork first = lost.element();
            while (first.hasNext()) {
                if (filled == most) {
                    return filled;
                }
                write(into, filled++ * Layout.WorkCompletion.SIZE, first);
            }
            lost.remove();
            removed++;
        }
        return filled;
    }

    private static void write(MemorySegment into, long at, LostWork work) {
        into.asSlice(at, Layout.WorkCompletion.SIZE).fill((byte) 0);
        Native.putLong(into, at + Layout.WorkCompletion.WR_ID, work.next());
        Native.putInt(into, at + Layout.WorkCompletion.STATUS,
                WorkCompletionStatus.WORK_REQUEST_FLUSHED.code());
        Native.putInt(into, at + Layout.WorkCompletion.QP_NUM, work.queuePair());
    }
}
