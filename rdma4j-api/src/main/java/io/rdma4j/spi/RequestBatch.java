package io.rdma4j.spi;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.ExtendedQueuePair;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A batch whose requests are {@link SendWorkRequest}s, for providers: what each call says of the request that has begun. For
 * one thread at a time.
 */
public abstract class SendBatch implements ExtendedQueuePair {
    /** Creates one in which no batch has begun. */
    protected SendBatch() {}

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

    @Override
    public ExtendedQueuePair send() {
        begin(SendOpcode.SEND);
        return this;
    }

    @Override
    public ExtendedQueuePair sendWithImmediate(int immediate) {
        begin(SendOpcode.SEND_WITH_IMMEDIATE).immediate(immediate);
        return this;
    }

    @Override
    public ExtendedQueuePair sendWithInvalidate(int peerRkey) {
        begin(SendOpcode.SEND_WITH_INVALIDATE).invalidateRkey(peerRkey);
        return this;
    }

    @Override
    public ExtendedQueuePair write(int rkey, long remoteAddress) {
        begin(SendOpcode.RDMA_WRITE).remote(remoteAddress, rkey);
        return this;
    }

    @Override
    public ExtendedQueuePair writeWithImmediate(int rkey, long remoteAddress, int immediate) {
        begin(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE).remote(remoteAddress, rkey)
                .immediate(immediate);
        return this;
    }

    @Override
    public ExtendedQueuePair read(int rkey, long remoteAddress) {
        begin(SendOpcode.RDMA_READ).remote(remoteAddress, rkey);
        return this;
    }

    @Override
    public ExtendedQueuePair compareAndSwap(int rkey, long remoteAddress, long compare,
            long swap) {
        begin(SendOpcode.ATOMIC_COMPARE_AND_SWAP).compareAndSwap(remoteAddress, rkey, compare,
                swap);
        return this;
    }

    @Override
    public ExtendedQueuePair fetchAndAdd(int rkey, long remoteAddress, long add) {
        begin(SendOpcode.ATOMIC_FETCH_AND_ADD).fetchAndAdd(remoteAddress, rkey, add);
        return this;
    }

    @Override
    public ExtendedQueuePair atomicWrite(int rkey, long remoteAddress, MemorySegment value) {
        begin(SendOpcode.ATOMIC_WRITE).remote(remoteAddress, rkey);
        return inline(value);
    }

    @Override
    public ExtendedQueuePair flush(int rkey, long remoteAddress, long length,
            Set<FlushPlacement> placement, FlushSelectivity selectivity) {
        begin(SendOpcode.FLUSH).flush(remoteAddress, rkey, length, placement, selectivity);
        return this;
    }

    @Override
    public ExtendedQueuePair bind(MemoryWindow window, int newRkey, MemoryWindowBind bind) {
        begin(SendOpcode.BIND_MEMORY_WINDOW).bind(window, newRkey, bind);
        return this;
    }

    @Override
    public ExtendedQueuePair localInvalidate(int rkey) {
        begin(SendOpcode.LOCAL_INVALIDATE).invalidateRkey(rkey);
        return this;
    }

    @Override
    public ExtendedQueuePair element(int lkey, long address, long length) {
        begun().add(address, length, lkey);
        return this;
    }

    @Override
    public ExtendedQueuePair to(AddressHandle handle, int queuePairNumber, int qkey) {
        begun().to(handle, queuePairNumber, qkey);
        return this;
    }

    @Override
    public ExtendedQueuePair toSharedReceiveQueue(int number) {
        begun().toSharedReceiveQueue(number);
        return this;
    }
}
