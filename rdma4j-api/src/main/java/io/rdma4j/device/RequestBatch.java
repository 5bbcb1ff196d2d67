// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A batch whose requests are {@link SendWorkRequest}s, for providers: what each call says of the request that has begun. For
 * one thread at a time.
 */
public abstract class RequestBatch implements SendBatch {
    private final Set<SendOpcode> offered;
    private int flags;
    private long id;
    private @Nullable RdmaException failure;

    /**
     * Creates one in which no batch has begun.
     *
     * @param offered the operations that the queue pair was created for
     */
    protected RequestBatch(Set<SendOpcode> offered) {
        this.offered = offered;
    }

    /**
     * Begins a request, after what is set for all of the batch.
     *
     * @return the request, cleared but for its operation
     * @throws IllegalStateException if this thread has not begun a batch
     */
    protected abstract SendWorkRequest begin(SendOpcode opcode);

    /**
     * {@return the request that was begun last}
     *
     * @throws IllegalStateException if this thread has not begun a batch, or no request in it
     */
    protected abstract SendWorkRequest begun();

    /**
     * Requires a batch of this thread.
     *
     * @throws IllegalStateException if it has not begun one
     */
    protected abstract void requireBatch();

    /** A batch begins, or has ended: forgets what was set, and what was wrong. */
    protected final void reset() {
        flags = 0;
        id = 0;
        failure = null;
    }

    /** {@return a request, cleared but for its operation and what is set for all of the batch} An operation that is not offered fails. */
    protected final SendWorkRequest begun(SendWorkRequest request, SendOpcode opcode) {
        request.clear().id(id).opcode(opcode).flags(flags);
        if (!offered.contains(opcode)) {
            fail(new RdmaException(Errno.EINVAL, PostRules.SEND,
                    "the queue pair was created for " + offered
                            + ", not for " + opcode));
        }
        return request;
    }

    /** The batch cannot be posted. The first reason counts. */
    protected final void fail(RdmaException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /** {@return why the batch cannot be posted, null if it can} */
    protected final @Nullable RdmaException failure() {
        return failure;
    }

    /** {@return what is said if a request is asked for before one has begun} */
    protected static IllegalStateException noneBegun() {
        return new IllegalStateException("no request has begun in this batch");
    }

    @Override
    public final SendBatch id(long value) {
        requireBatch();
        id = value;
        return this;
    }

    @Override
    public final SendBatch flags() {
        return flags(0);
    }

    @Override
    public final SendBatch flags(SendFlag only) {
        return flags(only.bit());
    }

    @Override
    public final SendBatch flags(SendFlag first, SendFlag second) {
        return flags(first.bit() | second.bit());
    }

    @Override
    public final SendBatch flags(Set<SendFlag> all) {
        int bits = 0;
        for (SendFlag each : all) {
            bits |= each.bit();
        }
        return flags(bits);
    }

    private SendBatch flags(int bits) {
        requireBatch();
        flags = bits;
        return this;
    }

    @Override
    public SendBatch send() {
        begin(SendOpcode.SEND);
        return this;
    }

    @Override
    public SendBatch sendWithImmediate(int immediate) {
        begin(SendOpcode.SEND_WITH_IMMEDIATE).immediate(immediate);
        return this;
    }

    @Override
    public SendBatch sendWithInvalidate(int peerRkey) {
        begin(SendOpcode.SEND_WITH_INVALIDATE).invalidateRkey(peerRkey);
        return this;
    }

    @Override
    public SendBatch write(long remoteAddress, int rkey) {
        begin(SendOpcode.RDMA_WRITE).remote(remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch writeWithImmediate(long remoteAddress, int rkey, int immediate) {
        begin(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE).remote(remoteAddress, rkey)
                .immediate(immediate);
        return this;
    }

    @Override
    public SendBatch read(long remoteAddress, int rkey) {
        begin(SendOpcode.RDMA_READ).remote(remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch compareAndSwap(long remoteAddress, int rkey, long compare,
            long swap) {
        begin(SendOpcode.ATOMIC_COMPARE_AND_SWAP).compareAndSwap(remoteAddress, rkey, compare,
                swap);
        return this;
    }

    @Override
    public SendBatch fetchAndAdd(long remoteAddress, int rkey, long add) {
        begin(SendOpcode.ATOMIC_FETCH_AND_ADD).fetchAndAdd(remoteAddress, rkey, add);
        return this;
    }

    @Override
    public SendBatch atomicWrite(long remoteAddress, int rkey, MemorySegment value) {
        begin(SendOpcode.ATOMIC_WRITE).remote(remoteAddress, rkey);
        return inline(value);
    }

    @Override
    public SendBatch flush(long remoteAddress, int rkey, long length,
            Set<FlushPlacement> placement, FlushSelectivity selectivity) {
        begin(SendOpcode.FLUSH).flush(remoteAddress, rkey, length, placement, selectivity);
        return this;
    }

    @Override
    public SendBatch bind(MemoryWindow window, int newRkey, MemoryWindowBind bind) {
        begin(SendOpcode.BIND_MEMORY_WINDOW).bind(window, newRkey, bind);
        return this;
    }

    @Override
    public SendBatch localInvalidate(int rkey) {
        begin(SendOpcode.LOCAL_INVALIDATE).invalidateRkey(rkey);
        return this;
    }

    @Override
    public SendBatch add(long address, long length, int lkey) {
        begun().add(address, length, lkey);
        return this;
    }

    @Override
    public SendBatch to(AddressHandle handle, int queuePairNumber, int qkey) {
        begun().to(handle, queuePairNumber, qkey);
        return this;
    }

    @Override
    public SendBatch toSharedReceiveQueue(int number) {
        begun().toSharedReceiveQueue(number);
        return this;
    }
}
