package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Builds send requests in the queue itself and posts them in batches: all requests of a batch, or none.
 *
 * <p>C: {@code struct ibv_qp_ex}, the {@code ibv_wr_…} family; see {@code ibv_wr_post(3)}. A batch begins with
 * {@link #start} and ends with {@link #complete} or {@link #abort}. In between come any number of requests: for each
 * first its operation, such as {@link #send}, then its memory. {@link #id} and {@link #flags} apply to the requests that
 * begin after them.
 *
 * {@snippet :
 * batch.start();
 * batch.id(1).flags(SendFlag.SIGNALED).write(rkey, remoteAddress).element(region, 0, 4096);
 * batch.id(2).send().inline(message);
 * batch.complete();
 * }
 *
 * <p>{@link #complete} reports errors of single requests, and then posts nothing, as in C. Between start
 * and end the batch belongs to the calling thread; other threads that post sends wait for its end. Posting
 * allocates nothing.
 */
public interface ExtendedQueuePair {
    /** {@return the queue pair} */
    QueuePair queuePair();

    /**
     * Begins a batch. C: {@code ibv_wr_start}.
     *
     * @throws IllegalStateException if the calling thread has begun one already, or after close
     */
    void start();

    /** Sets the caller's number of the following requests ({@code wr_id}). */
    ExtendedQueuePair id(long value);

    /** Sets the flags of the following requests, in place of earlier ones ({@code wr_flags}). */
    ExtendedQueuePair flags(SendFlag... flags);

    /** Begins a SEND. C: {@code ibv_wr_send}. */
    ExtendedQueuePair send();

    /** Begins a SEND with immediate. C: {@code ibv_wr_send_imm}. */
    ExtendedQueuePair sendWithImmediate(int immediate);

    /** Begins a SEND that invalidates a key of the peer. C: {@code ibv_wr_send_inv}. */
    ExtendedQueuePair sendWithInvalidate(int peerRkey);

    /** Begins a WRITE. C: {@code ibv_wr_rdma_write}. */
    ExtendedQueuePair write(int rkey, long remoteAddress);

    /** Begins a WRITE with immediate. C: {@code ibv_wr_rdma_write_imm}. */
    ExtendedQueuePair writeWithImmediate(int rkey, long remoteAddress, int immediate);

    /** Begins a READ. C: {@code ibv_wr_rdma_read}. */
    ExtendedQueuePair read(int rkey, long remoteAddress);

    /** Begins a compare and swap. C: {@code ibv_wr_atomic_cmp_swp}. */
    ExtendedQueuePair compareAndSwap(int rkey, long remoteAddress, long compare, long swap);

    /** Begins a fetch and add. C: {@code ibv_wr_atomic_fetch_add}. */
    ExtendedQueuePair fetchAndAdd(int rkey, long remoteAddress, long add);

    /** Adds an atomic write of 8 bytes, given in the byte order of memory. C: {@code ibv_wr_atomic_write}. */
    ExtendedQueuePair atomicWrite(int rkey, long remoteAddress, MemorySegment value);

    /** Adds a FLUSH. C: {@code ibv_wr_flush}. */
    ExtendedQueuePair flush(int rkey, long remoteAddress, long length,
            Set<FlushPlacement> placement, FlushSelectivity selectivity);

    /** Adds a bind of a type 2 memory window. C: {@code ibv_wr_bind_mw}. */
    ExtendedQueuePair bind(MemoryWindow window, int newRkey, MemoryWindowBind bind);

    /** Adds a local invalidation. C: {@code ibv_wr_local_inv}. */
    ExtendedQueuePair localInvalidate(int rkey);

    /** Appends memory to the request begun last. C: {@code ibv_wr_set_sge}, {@code ibv_wr_set_sge_list}. */
    ExtendedQueuePair element(int lkey, long address, long length);

    /** Appends a range of a region; {@code offset} counts from the region's start. */
    default ExtendedQueuePair element(MemoryRegion region, long offset, long length) {
        return element(region.lkey(), region.address() + offset, length);
    }

    /**
     * Appends bytes of any segment to the request begun last, copied at once. C:
     * {@code ibv_wr_set_inline_data}, {@code ibv_wr_set_inline_data_list}.
     */
    ExtendedQueuePair inline(MemorySegment data);

    /** Says where the datagram begun last goes. C: {@code ibv_wr_set_ud_addr}. */
    ExtendedQueuePair to(AddressHandle handle, int queuePairNumber, int qkey);

    /**
     * Sets the peer's shared receive queue for the request begun last. Queue pairs of other types than XRC_SEND ignore it.
     * C: {@code ibv_wr_set_xrc_srqn}.
     */
    @Experimental
    ExtendedQueuePair toSharedReceiveQueue(int number);

    /**
     * Posts the batch. C: {@code ibv_wr_complete}.
     *
     * @throws RdmaException as {@link QueuePair#postSend(SendWorkRequest)}, with the first error of the batch; nothing is
     *         posted then; EINVAL also for an operation that the queue pair was not created for
     * @throws IllegalStateException outside a batch
     */
    void complete() throws RdmaException;

    /**
     * Ends the batch without posting anything. C: {@code ibv_wr_abort}.
     *
     * @throws IllegalStateException outside a batch
     */
    void abort();
}
