// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

/**
 * A request to a send queue: what to do, with which memory, at which place of the peer.
 *
 * <p>C: {@code struct} {@index ibv_send_wr}. A reusable object of the caller: the device copies it when it is
 * posted, so it may be changed or posted again as soon as {@link QueuePair#postSend} returns. The
 * memory it names belongs to the device until the request completes, except with
 * {@link SendFlag#INLINE}. Not thread safe.
 *
 * {@snippet :
 * queuePair.postSend(request.clear().id(1).write(remoteAddress, rkey)
 *         .add(region, 0, 4096).set(SendFlag.SIGNALED));
 * }
 *
 * @since 0.1.0
 */
public final class SendWorkRequest {
    private final ScatterGatherList elements = new ScatterGatherList();
    private long id;
    private SendOpcode opcode = SendOpcode.SEND;
    private int flags;
    private int immediate;
    private int invalidateRkey;
    private long remoteAddress;
    private int rkey;
    private long compareAdd;
    private long swap;
    private @Nullable AddressHandle addressHandle;
    private int remoteQueuePair;
    private int remoteQkey;
    private int remoteSharedReceiveQueue;
    private @Nullable MemoryWindow window;
    private @Nullable MemoryWindowBind windowBind;
    private int windowRkey;
    private @Nullable MemorySegment inlineData;
    private long flushLength;
    private int flushPlacement;
    private FlushSelectivity flushSelectivity = FlushSelectivity.RANGE;

    /** Creates a SEND without payload. */
    public SendWorkRequest() {}

    /** Makes this an unsignaled SEND without payload again. */
    public SendWorkRequest clear() {
        elements.clear();
        id = 0;
        opcode = SendOpcode.SEND;
        flags = 0;
        immediate = 0;
        invalidateRkey = 0;
        remoteAddress = 0;
        rkey = 0;
        compareAdd = 0;
        swap = 0;
        addressHandle = null;
        remoteQueuePair = 0;
        remoteQkey = 0;
        remoteSharedReceiveQueue = 0;
        window = null;
        windowBind = null;
        windowRkey = 0;
        inlineData = null;
        flushLength = 0;
        flushPlacement = 0;
        flushSelectivity = FlushSelectivity.RANGE;
        return this;
    }

    /**
     * {@return the caller's number, which comes back in {@link WorkCompletion#id()}} C:
     * {@index wr_id of struct ibv_send_wr}.
     */
    public long id() {
        return id;
    }

    /**
     * Sets the caller's number ({@code wr_id}). It can be the index of a connection or buffer in an array of the program, which
     * finds it then without a look-up by {@link WorkCompletion#queuePairNumber}.
     */
    public SendWorkRequest id(long value) {
        id = value;
        return this;
    }

    /** {@return what to do} C: {@index opcode of struct ibv_send_wr}. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** Sets what to do ({@code opcode}). */
    public SendWorkRequest opcode(SendOpcode value) {
        opcode = Objects.requireNonNull(value, "opcode");
        return this;
    }

    /** Makes this a SEND. */
    public SendWorkRequest send() {
        return opcode(SendOpcode.SEND);
    }

    /** Makes this a SEND with 32 bits beside the message. */
    public SendWorkRequest sendWithImmediate(int value) {
        return opcode(SendOpcode.SEND_WITH_IMMEDIATE).immediate(value);
    }

    /**
     * Makes this a SEND that invalidates a key of the peer.
     *
     * @param peerRkey a key of the peer's, which ends
     */
    public SendWorkRequest sendWithInvalidate(int peerRkey) {
        return opcode(SendOpcode.SEND_WITH_INVALIDATE).invalidateRkey(peerRkey);
    }

    /**
     * Makes this a WRITE to the peer's memory.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     */
    public SendWorkRequest write(long peerAddress, int peerRkey) {
        return opcode(SendOpcode.RDMA_WRITE).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this a WRITE that also consumes a receive request of the peer.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     * @param value 32 bits for the peer's completion
     */
    public SendWorkRequest writeWithImmediate(long peerAddress, int peerRkey, int value) {
        return opcode(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE).remote(peerAddress, peerRkey)
                .immediate(value);
    }

    /**
     * Makes this a READ of the peer's memory into the elements.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     */
    public SendWorkRequest read(long peerAddress, int peerRkey) {
        return opcode(SendOpcode.RDMA_READ).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this a compare and swap of 8 aligned bytes; the old value lands in the element.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     * @param compare what the memory must hold
     * @param newValue what the memory holds then
     */
    public SendWorkRequest compareAndSwap(long peerAddress, int peerRkey, long compare,
            long newValue) {
        compareAdd = compare;
        swap = newValue;
        return opcode(SendOpcode.ATOMIC_COMPARE_AND_SWAP).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this a fetch and add of 8 aligned bytes; the old value lands in the element.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     * @param add what is added
     */
    public SendWorkRequest fetchAndAdd(long peerAddress, int peerRkey, long add) {
        compareAdd = add;
        return opcode(SendOpcode.ATOMIC_FETCH_AND_ADD).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this a write of 8 aligned bytes that no reader sees in part; its payload are 8 bytes in the
     * order of memory.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     */
    public SendWorkRequest atomicWrite(long peerAddress, int peerRkey) {
        return opcode(SendOpcode.ATOMIC_WRITE).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this a FLUSH of earlier writes to the peer's memory; it has no payload.
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     * @param length in bytes
     * @param placement how far
     * @param selectivity a range or all
     */
    public SendWorkRequest flush(long peerAddress, int peerRkey, long length,
            Set<FlushPlacement> placement, FlushSelectivity selectivity) {
        if (length < 0 || length > 0xffff_ffffL) {
            throw new IllegalArgumentException("a FLUSH covers 0 to 2^32 - 1 bytes, not " + length);
        }
        flushLength = length;
        flushPlacement = FlushPlacement.bits(placement);
        flushSelectivity = selectivity;
        return opcode(SendOpcode.FLUSH).remote(peerAddress, peerRkey);
    }

    /**
     * Makes this an invalidation of a key of one's own; it has no payload.
     *
     * @param ownRkey a key of this side, which ends
     */
    public SendWorkRequest localInvalidate(int ownRkey) {
        return opcode(SendOpcode.LOCAL_INVALIDATE).invalidateRkey(ownRkey);
    }

    /** {@return the bytes a FLUSH covers} */
    public long flushLength() {
        return flushLength;
    }

    /** {@return how far a FLUSH brings writes, as verbs.h bits} */
    public int flushPlacement() {
        return flushPlacement;
    }

    /** {@return what a FLUSH covers} */
    public FlushSelectivity flushSelectivity() {
        return flushSelectivity;
    }

    /**
     * Sets flags, beside those already set ({@code send_flags}).
     *
     * @param flag one
     */
    public SendWorkRequest set(SendFlag flag) {
        flags |= flag.bit();
        return this;
    }

    /**
     * Sets or clears a flag.
     *
     * @param flag one
     * @param value whether the request has it
     */
    public SendWorkRequest set(SendFlag flag, boolean value) {
        flags = value ? flags | flag.bit() : flags & ~flag.bit();
        return this;
    }

    /**
     * {@return whether a flag is set}
     *
     * @param flag one
     */
    public boolean has(SendFlag flag) {
        return (flags & flag.bit()) != 0;
    }

    /** {@return all flags as verbs.h bits} C: {@index send_flags of struct ibv_send_wr}. */
    public int flags() {
        return flags;
    }

    /**
     * Sets all flags at once, as verbs.h bits.
     *
     * @param bits as {@code enum ibv_send_flags} has them
     */
    public SendWorkRequest flags(int bits) {
        flags = bits;
        return this;
    }

    /**
     * {@return the memory to send from or to read into} C: {@index sg_list of struct ibv_send_wr},
     * {@index num_sge of struct ibv_send_wr}.
     */
    public ScatterGatherList elements() {
        return elements;
    }

    /**
     * Appends a range of a region; {@code offset} counts from the region's start.
     *
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     */
    public SendWorkRequest add(MemoryRegion region, long offset, long length) {
        elements.add(region.address() + offset, length, region.lkey());
        return this;
    }

    /**
     * Appends a range of registered memory.
     *
     * @param address of the first byte
     * @param length in bytes
     * @param lkey the key of this side's memory
     */
    public SendWorkRequest add(long address, long length, int lkey) {
        elements.add(address, length, lkey);
        return this;
    }

    /**
     * Appends a range of registered memory.
     *
     * @param element where bytes are
     */
    public SendWorkRequest add(ScatterGatherElement element) {
        elements.add(element.address(), element.length(), element.lkey());
        return this;
    }

    /** {@return the payload given by {@link #inline}, or null} */
    public @Nullable MemorySegment inlineData() {
        return inlineData;
    }

    /**
     * Sends the bytes of any segment, registered or not, native or on the heap; they are copied when
     * the request is posted. Sets {@link SendFlag#INLINE}. In C an inline element may name any address
     * of the process; here a segment takes its place, since an address alone cannot be read safely.
     *
     * @param data no more bytes than {@link QueuePairCapabilities#maxInlineData}, of an arena that is open,
     *        and the posting thread's own if it is confined
     */
    public SendWorkRequest inline(MemorySegment data) {
        inlineData = Objects.requireNonNull(data, "data");
        return set(SendFlag.INLINE);
    }

    /** {@return the 32 bits beside the message} C: {@index imm_data of struct ibv_send_wr}. */
    public int immediate() {
        return immediate;
    }

    /** Sets the 32 bits beside the message ({@code imm_data}, read as a big-endian number). */
    public SendWorkRequest immediate(int value) {
        immediate = value;
        return this;
    }

    /** {@return the key to invalidate} C: {@index invalidate_rkey of struct ibv_send_wr}. */
    public int invalidateRkey() {
        return invalidateRkey;
    }

    /**
     * Sets the key to invalidate, the peer's or for a local invalidation one's own. C:
     * {@index invalidate_rkey of struct ibv_send_wr}.
     */
    public SendWorkRequest invalidateRkey(int value) {
        invalidateRkey = value;
        return this;
    }

    /** {@return the peer's address} C: {@index remote_addr of struct ibv_send_wr}. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** {@return the peer's key} C: {@index rkey of struct ibv_send_wr}. */
    public int rkey() {
        return rkey;
    }

    /**
     * Sets the peer's address and key ({@code wr.rdma}, {@code wr.atomic}).
     *
     * @param peerAddress where at the peer
     * @param peerRkey the key of the peer's memory
     */
    public SendWorkRequest remote(long peerAddress, int peerRkey) {
        remoteAddress = peerAddress;
        rkey = peerRkey;
        return this;
    }

    /** {@return what an atomic compares with or adds} C: {@index compare_add of struct ibv_send_wr}. */
    public long compareAdd() {
        return compareAdd;
    }

    /** {@return what a compare and swap stores} C: {@index swap of struct ibv_send_wr}. */
    public long swap() {
        return swap;
    }

    /** {@return the path of a datagram, or null} C: {@index ah of struct ibv_send_wr}. */
    public @Nullable AddressHandle addressHandle() {
        return addressHandle;
    }

    /** {@return the queue pair a datagram goes to} C: {@index remote_qpn of struct ibv_send_wr}. */
    public int remoteQueuePairNumber() {
        return remoteQueuePair;
    }

    /** {@return the Q_Key of a datagram} C: {@index remote_qkey of struct ibv_send_wr}. */
    public int remoteQkey() {
        return remoteQkey;
    }

    /**
     * Sets where a datagram goes ({@code wr.ud}).
     *
     * @param handle the path
     * @param queuePairNumber 24 bits
     * @param qkey the Q_Key of the receiver
     */
    public SendWorkRequest to(AddressHandle handle, int queuePairNumber, int qkey) {
        addressHandle = handle;
        remoteQueuePair = queuePairNumber;
        remoteQkey = qkey;
        return this;
    }

    /** {@return the peer's shared receive queue, for type XRC_SEND} C: {@index remote_srqn of struct ibv_send_wr}. */
    @Experimental
    public int remoteSharedReceiveQueueNumber() {
        return remoteSharedReceiveQueue;
    }

    /**
     * Sets which of the peer's shared receive queues takes the message, by its number
     * ({@link SharedReceiveQueue#number}). Queue pairs of type XRC_SEND need it with each request, WRITE and READ too; others
     * do not look at it. C: {@code qp_type.xrc.}{@index remote_srqn of struct ibv_send_wr}.
     *
     * @param number of a shared receive queue of the peer, which has told it
     */
    @Experimental
    public SendWorkRequest toSharedReceiveQueue(int number) {
        remoteSharedReceiveQueue = number;
        return this;
    }

    /** {@return the memory window to bind, or null} C: {@code bind_mw.}{@index mw of struct ibv_send_wr}. */
    public @Nullable MemoryWindow window() {
        return window;
    }

    /** {@return what the window shall cover, or null} C: {@code bind_mw.}{@index bind_info of struct ibv_send_wr}. */
    public @Nullable MemoryWindowBind windowBind() {
        return windowBind;
    }

    /** {@return the key the window shall have} C: {@code bind_mw.}{@index rkey of struct ibv_send_wr}. */
    public int windowRkey() {
        return windowRkey;
    }

    /**
     * Makes this a bind of a type 2 memory window ({@code bind_mw}).
     *
     * @param memoryWindow of type 2, of the same domain as the queue pair
     * @param newRkey the key that the window gets
     * @param bind what it opens to the peer
     */
    public SendWorkRequest bind(MemoryWindow memoryWindow, int newRkey, MemoryWindowBind bind) {
        window = memoryWindow;
        windowRkey = newRkey;
        windowBind = bind;
        return opcode(SendOpcode.BIND_MEMORY_WINDOW);
    }

    @Override
    public String toString() {
        return opcode + " id=" + id + " elements=" + elements.count() + " bytes="
                + elements.totalLength();
    }
}
