package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Requests that were posted too late, so that the driver would never complete them ({@link DriverFaults#losesLateWork}):
 * they complete as flushed, after all completions of the driver. Thread safe, without a lock.
 */
final class LateWork {
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();

    private record Request(long workRequestId, int queuePair) {}

    void add(long workRequestId, int queuePair) {
        requests.add(new Request(workRequestId, queuePair));
    }

    /**
     * Adds their completions after those of the driver.
     *
     * @param into an array of {@code struct ibv_wc}
     * @param from the first index to fill
     * @param end the index after the last
     * @return the index after the last filled one
     */
    int take(MemorySegment into, int from, int end) {
        int filled = from;
        while (filled < end) {
            @Nullable
            Request next = requests.poll();
            if (next == null) {
                return filled;
            }
            long at = filled++ * Layout.WorkCompletion.SIZE;
            into.asSlice(at, Layout.WorkCompletion.SIZE).fill((byte) 0);
            Native.putLong(into, at + Layout.WorkCompletion.WR_ID, next.workRequestId);
            Native.putInt(into, at + Layout.WorkCompletion.STATUS,
                    WorkCompletionStatus.WORK_REQUEST_FLUSHED.code());
            Native.putInt(into, at + Layout.WorkCompletion.QP_NUM, next.queuePair);
        }
        return filled;
    }
}
