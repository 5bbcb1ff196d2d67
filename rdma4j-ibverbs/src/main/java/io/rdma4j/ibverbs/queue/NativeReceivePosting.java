// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.PostRules;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.memory.Elements;
import io.rdma4j.ibverbs.memory.RegionLiveness;
import io.rdma4j.ibverbs.work.WorkLedger;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Receive requests of a queue pair or of a shared receive queue. */
public final class NativeReceivePosting extends RequestChain<ReceiveWorkRequest> {
    static final String OPERATION = PostRules.RECEIVE;

    private final DomainServices domain;
    private final @Nullable QueuePairServices queuePair;
    private final int maxElements;

    /**
     * @param queuePair the owner of the queue, null for a shared receive queue
     * @param function the address of the function that posts
     * @param queue the queue pair or shared receive queue
     * @param tag the upper bits of each {@code wr_id}
     * @param requests the capacity of the queue
     * @param maxElements the maximum number of elements of a request
     */
    NativeReceivePosting(DomainServices domain, @Nullable QueuePairServices queuePair,
            Arena arena, MemorySegment function, long queue, long tag, WorkLedger work,
            int requests, int maxElements) {
        super(OPERATION, arena, domain.owner().hotCalls(), function, queue, tag, work,
                queuePair != null && domain.owner().faults().losesLateRequests(), requests,
                Layout.ReceiveRequest.SIZE, Math.max(1, maxElements) * Layout.Element.SIZE);
        this.domain = domain;
        this.queuePair = queuePair;
        this.maxElements = maxElements;
    }

    @Override
    boolean isTooLate() {
        return queuePair != null && queuePair.isTooLate();
    }

    @Override
    boolean isLostMeanwhile() {
        return queuePair != null && queuePair.isLostMeanwhile();
    }

    @Override
    public void flush(int late) {
        if (queuePair != null) {
            queuePair.flushReceives(late);
        }
    }

    /** {@inheritDoc} There is no such receive. */
    @Override
    int postApart(long at) {
        throw new IllegalStateException("a receive is posted with its chain");
    }

    @Override
    void letGo(int posted) {
        // Receives refer only to memory, by its key.
    }

    @Override
    public void stage(ReceiveWorkRequest request) throws RdmaException {
        ScatterGatherList elements = request.elements();
        // Read once, so that the checked value is the written one.
        int count = elements.count();
        PostRules.requireElements(count, maxElements, "queue", OPERATION);
        RegionLiveness.check(domain, elements, count, OPERATION);
        MemorySegment chain = chain();
        long at = begin();
        long elementsAt = at + Layout.ReceiveRequest.SIZE;
        Native.putInt(chain, at + Layout.ReceiveRequest.NUM_SGE, count);
        Elements.write(chain, elementsAt, elements, count);
        end(request.id(), WorkCompletionOpcode.RECEIVE, true);
    }
}
