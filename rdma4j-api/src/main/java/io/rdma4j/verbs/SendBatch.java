// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Builds send requests in the queue itself and posts them together: all requests of a batch, or none.
 *
 * <p>C: {@code struct} {@index ibv_qp_ex} with {@index wr_id of struct ibv_qp_ex} and {@index wr_flags of struct ibv_qp_ex}, the {@code ibv_wr_…} family; see {@code ibv_wr_post(3)}. A batch begins with
 * {@link QueuePair#startBatch} and ends with {@link #post}, or without posting anything with {@link #close}. In between come
 * any number of requests: for each first its operation, such as {@link #send}, then its memory. {@link #id} and
 * {@link #flags} apply to the requests that begin after them.
 *
 * <p>Operations, {@link #add}, {@link #inline} and {@link #to} have the names and the order of arguments of
 * {@link SendWorkRequest}, with these differences:
 * <ul>
 * <li>{@link #flags} replaces the flags, of all requests that follow; {@link SendWorkRequest#set(SendFlag)} adds one to its
 * request.
 * <li>{@link #atomicWrite} takes its 8 bytes as an argument and copies them at once; that of a request takes them by
 * {@code add} or {@code inline}.
 * <li>{@link #inline} copies at once and appends; that of a request copies when it is posted, and a second call replaces the
 * first.
 * </ul>
 *
 * {@snippet :
 * try (SendBatch batch = queuePair.startBatch()) {
 *     batch.id(1).flags(SendFlag.SIGNALED).write(remoteAddress, rkey).add(region, 0, 4096);
 *     batch.id(2).send().inline(message);
 *     batch.post();
 * }
 * }
 *
 * <p>{@link #post} reports errors of single requests, and then posts nothing, as in C. Between start
 * and end the batch belongs to the calling thread; other threads that post sends wait for its end. So end it by
 * {@code try}, also when something fails in between. Outside a batch, and in any other thread, all methods but {@link #queuePair}
 * and {@link #close} throw {@link IllegalStateException}. Posting allocates nothing. A queue pair has one object for all its
 * batches.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface SendBatch extends AutoCloseable {
    /** {@return the queue pair} */
    QueuePair queuePair();

    /** Sets the caller's number of the following requests ({@code wr_id}). */
    SendBatch id(long value);

    /** The following requests have no flags ({@code wr_flags}). */
    SendBatch flags();

    /**
     * The following requests have this flag alone ({@code wr_flags}).
     *
     * @param only the flag
     */
    SendBatch flags(SendFlag only);

    /**
     * The following requests have these two flags ({@code wr_flags}).
     *
     * @param first one of the flags
     * @param second the other
     */
    SendBatch flags(SendFlag first, SendFlag second);

    /**
     * The following requests have these flags ({@code wr_flags}).
     *
     * @param all the flags, which may be none
     */
    SendBatch flags(Set<SendFlag> all);

    /** Begins a SEND. C: {@index ibv_wr_send}. */
    SendBatch send();

    /**
     * Begins a SEND with immediate. C: {@index ibv_wr_send_imm}.
     *
     * @param immediate 32 bits for the peer's completion
     */
    SendBatch sendWithImmediate(int immediate);

    /**
     * Begins a SEND that invalidates a key of the peer. C: {@index ibv_wr_send_inv}.
     *
     * @param peerRkey a key of the peer's, which ends
     */
    SendBatch sendWithInvalidate(int peerRkey);

    /**
     * Begins a WRITE. C: {@index ibv_wr_rdma_write}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     */
    SendBatch write(long remoteAddress, int rkey);

    /**
     * Begins a WRITE with immediate. C: {@index ibv_wr_rdma_write_imm}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param immediate 32 bits for the peer's completion
     */
    SendBatch writeWithImmediate(long remoteAddress, int rkey, int immediate);

    /**
     * Begins a READ. C: {@index ibv_wr_rdma_read}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     */
    SendBatch read(long remoteAddress, int rkey);

    /**
     * Begins a compare and swap. C: {@index ibv_wr_atomic_cmp_swp}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param compare what the memory must hold
     * @param swap what it holds then
     */
    SendBatch compareAndSwap(long remoteAddress, int rkey, long compare, long swap);

    /**
     * Begins a fetch and add. C: {@index ibv_wr_atomic_fetch_add}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param add what is added
     */
    SendBatch fetchAndAdd(long remoteAddress, int rkey, long add);

    /**
     * Adds an atomic write of 8 bytes, given in the byte order of memory. C: {@index ibv_wr_atomic_write}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param value eight bytes
     */
    SendBatch atomicWrite(long remoteAddress, int rkey, MemorySegment value);

    /**
     * Adds a FLUSH. C: {@index ibv_wr_flush}.
     *
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param length in bytes
     * @param placement how far
     * @param selectivity a range or all
     */
    SendBatch flush(long remoteAddress, int rkey, long length, Set<FlushPlacement> placement,
            FlushSelectivity selectivity);

    /**
     * Adds a bind of a type 2 memory window. C: {@index ibv_wr_bind_mw}.
     *
     * @param window of the same domain as the queue pair
     * @param newRkey the key that the window gets
     * @param bind what it opens to the peer
     */
    SendBatch bind(MemoryWindow window, int newRkey, MemoryWindowBind bind);

    /**
     * Adds a local invalidation. C: {@index ibv_wr_local_inv}.
     *
     * @param rkey a key of this side, which ends
     */
    SendBatch localInvalidate(int rkey);

    /**
     * Appends registered memory to the request begun last. C: {@index ibv_wr_set_sge}, {@index ibv_wr_set_sge_list}.
     *
     * @param address of the first byte
     * @param length in bytes
     * @param lkey the key of this side's memory
     */
    SendBatch add(long address, long length, int lkey);

    /**
     * Appends a range of a region; {@code offset} counts from the region's start.
     *
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     */
    default SendBatch add(MemoryRegion region, long offset, long length) {
        return add(region.address() + offset, length, region.lkey());
    }

    /**
     * Appends bytes of any segment to the request begun last, copied at once. C:
     * {@index ibv_wr_set_inline_data}, {@index ibv_wr_set_inline_data_list}.
     *
     * @param data copied at once
     */
    SendBatch inline(MemorySegment data);

    /**
     * Says where the datagram begun last goes. C: {@index ibv_wr_set_ud_addr}.
     *
     * @param handle the path
     * @param queuePairNumber 24 bits
     * @param qkey the Q_Key of the receiver
     */
    SendBatch to(AddressHandle handle, int queuePairNumber, int qkey);

    /**
     * Sets the peer's shared receive queue for the request begun last. Queue pairs of other types than XRC_SEND ignore it.
     * C: {@index ibv_wr_set_xrc_srqn}.
     *
     * @param number of a shared receive queue of the peer, which has told it
     */
    @Experimental
    SendBatch toSharedReceiveQueue(int number);

    /**
     * Posts the batch and ends it. C: {@index ibv_wr_complete}.
     *
     * @throws RdmaException as {@link QueuePair#postSend(SendWorkRequest)}, with the first error of the batch; nothing is
     *         posted then; EINVAL also for an operation that the queue pair was not created for
     * @throws IllegalStateException outside a batch
     */
    void post() throws RdmaException;

    /**
     * Ends the batch of this thread without posting anything, unless it has ended. Idempotent. C: {@index ibv_wr_abort}.
     */
    @Override
    void close();
}
