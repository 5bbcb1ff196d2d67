// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.PostRules;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.work.WorkLedger;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Work requests in native memory, in a chain that one call posts, and entered in the ledger of their queue. For one
 * thread at a time. The links and the addresses of the elements are written once; only the last link of a call is
 * cut during the call.
 *
 * @param <T> the application's type of request
 */
public abstract class RequestChain<T> {
    /** How many requests one call posts at most. */
    static final int CHAIN = 32;

    private final String operation;
    private final HotCalls calls;
    private final MemorySegment function;
    private final long queue;
    private final long tag;
    private final WorkLedger work;
    private final boolean isLossy;
    private final int capacity;
    private final long stride;
    private final MemorySegment chain;
    private final MemorySegment refused;
    /** Which of the chain are posted apart. */
    private final boolean[] isApart;
    /** How many requests stand in the chain, and are not posted. */
    private int staged;
    /** Whether a request among them is posted in another way. */
    private boolean isMixed;
    /** How many of the chain that was posted last the device took. */
    private int taken;

    /**
     * @param operation for errors
     * @param calls the kind of calls of the device
     * @param function the address of the function that posts
     * @param queue the queue pair or shared receive queue
     * @param tag the upper bits of each {@code wr_id}
     * @param isLossy whether the driver loses late requests of this queue ({@code DriverFaults.losesLateRequests})
     * @param requests the capacity of the queue
     * @param size the size of a request in bytes; its elements follow it
     * @param behind the size in bytes of the elements and other data after it, a multiple of 8
     */
    RequestChain(String operation, Arena arena, HotCalls calls, MemorySegment function, long queue,
            long tag, WorkLedger work, boolean isLossy, int requests, long size, long behind) {
        this.operation = operation;
        this.calls = calls;
        this.function = function;
        this.queue = queue;
        this.tag = tag;
        this.work = work;
        this.isLossy = isLossy;
        stride = size + behind;
        capacity = Math.max(1, Math.min(CHAIN, requests));
        chain = arena.allocate(capacity * stride, 8);
        isApart = new boolean[capacity];
        refused = arena.allocate(Long.BYTES, Long.BYTES);
        for (int i = 0; i < capacity; i++) {
            Native.putLong(chain, i * stride + Layout.ReceiveRequest.SG_LIST,
                    chain.address() + i * stride + size);
            link(i, i + 1);
        }
    }

    /** Links the request at one index to that at the next, or to none at the end of the chain. */
    private void link(int place, int next) {
        Native.putLong(chain, place * stride + Layout.ReceiveRequest.NEXT,
                next < capacity ? chain.address() + next * stride : 0);
    }

    /** Posts a request. */
    public final void post(T request) throws RdmaException {
        drop();
        try {
            stage(request);
            int error = postChain();
            if (error != 0) {
                throw refusal(error);
            }
        } finally {
            letGo(0);
        }
    }

    /**
     * Posts requests, as many by one call as fit into the chain.
     *
     * @throws PostException for the first that is refused; those before it are posted
     */
    public final void post(List<T> requests) throws PostException {
        drop();
        try {
            postChains(requests);
        } finally {
            letGo(0);
        }
    }

    private void postChains(List<T> requests) throws PostException {
        int begun = 0;
        int next = 0;
        PostException why = null;
        while (next < requests.size() && why == null) {
            try {
                stage(PostRules.given(requests, next));
                next++;
            } catch (RdmaException one) {
                why = new PostException(operation, one, next);
            } catch (IllegalStateException mistake) {
                why = new PostException(operation, mistake, next);
            }
            if (why != null || staged == capacity || next == requests.size()) {
                int error = postChain();
                if (error != 0) {
                    throw new PostException(operation, refusal(error), begun + taken);
                }
                begun = next;
            }
        }
        if (why != null) {
            throw why;
        }
    }

    /** Posts the first requests, at most {@link #CHAIN}, by one call, and none if a check refuses one. */
    final void postTogether(List<T> requests, int count) throws RdmaException {
        drop();
        try {
            for (int i = 0; i < count; i++) {
                stage(requests.get(i));
            }
            int error = postChain();
            if (error != 0) {
                throw refusal(error);
            }
        } finally {
            letGo(0);
        }
    }

    /**
     * Adds a request to the chain.
     *
     * @throws RdmaException if it is refused; earlier requests stay staged
     */
    public abstract void stage(T request) throws RdmaException;

    /** {@return whether the driver would lose requests that are posted now} */
    abstract boolean isTooLate();

    /** {@return whether the driver may have lost requests that it has just accepted, unknown to the thread that found the end} */
    abstract boolean isLostMeanwhile();

    /**
     * Completes requests as flushed that the driver has lost.
     *
     * @param late how many, the last ones, were not given to the driver
     */
    public abstract void flush(int late);

    /**
     * Posts a request that needs its own call ({@link #endApart}).
     *
     * @param at its offset in the chain
     * @return 0, or the device's error
     */
    abstract int postApart(long at);

    /**
     * Releases the objects that the requests of the chain use.
     *
     * @param posted how many of the requests the driver has accepted
     */
    abstract void letGo(int posted);

    private void drop() {
        staged = 0;
        if (isMixed) {
            isMixed = false;
            Arrays.fill(isApart, false);
        }
    }

    /** {@return how many requests the chain holds at most} */
    final int places() {
        return capacity;
    }

    /** {@return which of the chain the next request is} */
    public final int place() {
        return staged;
    }

    /** {@return the memory of the requests} */
    final MemorySegment chain() {
        return chain;
    }

    /**
     * {@return the offset of the next request, whose address of elements is set already}
     *
     * @throws RdmaException ENOMEM if the queue is full
     */
    public final long begin() throws RdmaException {
        if (!work.hasRoom(staged + 1)) {
            throw new RdmaException(Errno.ENOMEM, operation, "the queue is full: all "
                    + work.capacity() + " requests are outstanding; take completions first");
        }
        return staged * stride;
    }

    /** Completes the request that was begun, with its number. */
    public final void end(long id, WorkCompletionOpcode opcode, boolean isSignaled) {
        Native.putLong(chain, staged * stride + Layout.ReceiveRequest.WR_ID,
                tag | work.note(staged, id, opcode, isSignaled));
        staged++;
    }

    /** The same, for a request that {@link #postApart} posts. */
    final void endApart(long id, WorkCompletionOpcode opcode, boolean isSignaled) {
        isApart[staged] = true;
        isMixed = true;
        end(id, opcode, isSignaled);
    }

    /** Posts the chain. {@return 0, or the device's error for a request; it has accepted those before it} */
    private int postChain() {
        int count = staged;
        staged = 0;
        if (count == 0) {
            return 0;
        }
        int error = 0;
        if (isLossy && isTooLate()) {
            flushChain(count);
        } else {
            error = isMixed ? postMixed(count) : postRun(0, count);
            if (isLossy) {
                work.accept();
                flushIfLost();
            }
        }
        letGo(error == 0 ? count : taken);
        return error;
    }

    private void flushIfLost() {
        if (isLostMeanwhile()) {
            flush(0);
        }
    }

    private void flushChain(int count) {
        work.commit(count);
        work.accept();
        flush(count);
        drop();
    }

    /** Posts those of a chain that are posted apart one by one, and the others in between. */
    private int postMixed(int count) {
        isMixed = false;
        int from = 0;
        int error = 0;
        for (int i = 0; i < count; i++) {
            if (isApart[i]) {
                isApart[i] = false;
                error = error == 0 ? postRun(from, i) : error;
                error = error == 0 ? postOneApart(i) : error;
                from = i + 1;
            }
        }
        return error == 0 ? postRun(from, count) : error;
    }

    private int postOneApart(int index) {
        work.commit(1);
        int error = postApart(index * stride);
        if (error != 0) {
            taken = index;
            work.takeBack(1);
        }
        return error;
    }

    /** Posts requests of the chain by one call. */
    private int postRun(int from, int end) {
        if (from == end) {
            return 0;
        }
        work.commit(end - from);
        Native.putLong(refused, 0, 0);
        link(end - 1, capacity);
        int error = calls.post(function, queue, chain.address() + from * stride,
                refused.address());
        link(end - 1, end);
        if (error == 0 || (isLossy && Native.getLong(refused, 0) == 0)) {
            // The driver that loses late work keeps what it returns an error for without naming the refused one.
            return 0;
        }
        taken = takenOf(from, end);
        work.takeBack(end - taken);
        return error;
    }

    /** {@return how many requests precede the refused one that the library points to} */
    private int takenOf(int from, int end) {
        long distance = Native.getLong(refused, 0) - chain.address();
        boolean isOne = distance >= from * stride && distance % stride == 0
                && distance / stride < end;
        return isOne ? (int) (distance / stride) : from;
    }

    private RdmaException refusal(int error) {
        return ErrorNumbers.failure(operation, Math.abs(error),
                "the device refused: the queue is full, or the request does not fit it");
    }
}
