package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A receive request in native memory, and the call that posts it. For one thread at a time.
 *
 * <p>Requests of a list are posted one by one: so it is known which was refused, whatever the driver says of the others.
 */
final class ReceivePosting {
    static final String OPERATION = "post receive";

    private final MemorySegment function;
    private final long queue;
    private final int maxElements;
    private final MemorySegment request;
    private final MemorySegment refused;

    /** @param queue the queue pair or shared receive queue */
    ReceivePosting(Arena arena, MemorySegment function, long queue, int maxElements) {
        this.function = function;
        this.queue = queue;
        this.maxElements = maxElements;
        request = arena.allocate(
                Layout.ReceiveRequest.SIZE + Math.max(1, maxElements) * Layout.Element.SIZE, 8);
        refused = arena.allocate(Long.BYTES, Long.BYTES);
    }

    /** @throws RdmaException EINVAL for a request that does not fit the queue */
    void check(ReceiveWorkRequest wanted, NativeProtectionDomain domain) throws RdmaException {
        ScatterGatherList elements = wanted.elements();
        if (elements.count() > maxElements) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the request has " + elements.count()
                    + " elements; the queue was created for " + maxElements);
        }
        RegionLiveness.check(domain, elements, OPERATION);
    }

    /**
     * Posts what was checked.
     *
     * @param number what the device calls {@code wr_id}
     */
    void post(ReceiveWorkRequest wanted, long number) throws RdmaException {
        ScatterGatherList elements = wanted.elements();
        Native.putLong(request, Layout.ReceiveRequest.WR_ID, number);
        Native.putLong(request, Layout.ReceiveRequest.SG_LIST,
                request.address() + Layout.ReceiveRequest.SIZE);
        Native.putInt(request, Layout.ReceiveRequest.NUM_SGE, elements.count());
        Elements.write(request, Layout.ReceiveRequest.SIZE, elements);
        int result = HotCalls.post(function, queue, request.address(), refused.address());
        if (result != 0) {
            throw ErrorNumbers.failure(OPERATION, Math.abs(result),
                    "the device refused: the queue is full, or the request does not fit it");
        }
    }
}
