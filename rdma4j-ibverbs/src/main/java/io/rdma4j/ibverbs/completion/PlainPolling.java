// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.work.FlushedRequests;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Polls by {@code ibv_poll_cq}: one call for several completions. */
final class PlainPolling implements Polling {
    private final HotCalls calls;
    private final MemorySegment function;
    private final long queue;
    private final FlushedRequests late;
    private final MemorySegment batch;
    private final CompletionReading reading;

    /**
     * @param queue the address of an {@code ibv_cq}
     * @param late the requests that the driver has lost, which complete after all of its own
     */
    PlainPolling(ContextServices services, long queue, FlushedRequests late, Arena arena) {
        this.queue = queue;
        this.late = late;
        calls = services.hotCalls();
        function = services.functions().address(ContextOperation.POLL_CQ);
        batch = arena.allocate(BATCH * Layout.WorkCompletion.SIZE, 8);
        reading = new CompletionReading(services);
    }

    @Override
    public int fetch(int most) throws RdmaException {
        // Memory that was given back has no address to be written to: this throws.
        Native.putLong(batch, 0, 0);
        long known = late.added();
        int found = calls.poll(function, queue, most, batch.address());
        if (found < 0 || found > most) {
            throw Polling.failed(found, most);
        }
        return found == 0 && late.isPending() ? late.take(batch, most, known) : found;
    }

    @Override
    public boolean hasMore() {
        return late.isPending();
    }

    @Override
    public boolean read(int index, WorkCompletion into) {
        return reading.read(batch, index * Layout.WorkCompletion.SIZE, 0, 0, into);
    }
}
