// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A slot of a send queue: what was posted, and how far the protocol has come with it.
 */
public final class SendRequest {
    private static final int SIGNALED = SendFlag.SIGNALED.bit();
    private static final int SOLICITED = SendFlag.SOLICITED.bit();
    private static final int FENCE = SendFlag.FENCE.bit();

    /** Bits of {@link #TRAITS}. */
    private static final int CONSUMES_RECEIVE = 1;
    private static final int AWAITS_RESPONSE = 2;
    private static final int IS_LOCAL = 4;
    private static final int RETURNS_BYTES = 8;
    /** It has more than a message. */
    private static final int HAS_MORE = 16;
    /** What is true of each operation, by its code: asked several times for each message. */
    private static final int[] TRAITS = traits();

    private final ElementList elements;
    private final @Nullable MemorySegment inlineBuffer;
    private final MemoryReference piece = new MemoryReference();
    private long id;
    private SendOpcode opcode = SendOpcode.SEND;
    private int traits = TRAITS[SendOpcode.SEND.code()];
    private int flags;
    private boolean isSignaled;
    private boolean isInline;
    private long length;
    private int immediate;
    private int invalidateRkey;
    private long remoteAddress;
    private int rkey;
    private long compareAdd;
    private long swap;
    private long flushLength;
    private int flushPlacement;
    private FlushSelectivity flushSelectivity = FlushSelectivity.RANGE;
    private @Nullable Route route;
    private int remoteQueuePair;
    private int remoteQkey;
    private @Nullable MemoryWindow window;
    private @Nullable MemoryWindowBind windowBind;
    private int windowRkey;

    private boolean isCarriedOut;
    /** Of a reliable connection of RoCE: what {@link #begin} has noted. */
    private long firstPsn;
    private long endPsn;
    private long messageNumber;
    private long receiveNumber;

    /**
     * @param maxElements scatter/gather elements it can hold
     * @param inlineBuffer where inline data is kept, null for none
     */
    public SendRequest(int maxElements, @Nullable MemorySegment inlineBuffer) {
        elements = new ElementList(maxElements);
        this.inlineBuffer = inlineBuffer;
    }

    /** Copies a request; its elements fit. Inline data follows by {@link #beginInline}. */
    public void assign(SendWorkRequest from, boolean signalAll) {
        elements.assign(from.elements());
        id = from.id();
        opcode = from.opcode();
        traits = TRAITS[opcode.code()];
        flags = from.flags();
        isSignaled = signalAll || (flags & SIGNALED) != 0;
        isInline = false;
        length = elements.totalLength;
        isCarriedOut = false;
        if ((traits & HAS_MORE) != 0) {
            assignOperation(from);
        }
    }

    /** Copies what the operation has; the rest is of earlier requests, and nobody looks at it. */
    private void assignOperation(SendWorkRequest from) {
        switch (opcode) {
            case SEND -> {
                // Nothing beside the message: TRAITS say so.
            }
            case SEND_WITH_IMMEDIATE -> immediate = from.immediate();
            case SEND_WITH_INVALIDATE, LOCAL_INVALIDATE -> invalidateRkey = from.invalidateRkey();
            case RDMA_WRITE, RDMA_READ, ATOMIC_WRITE -> assignRemote(from);
            case RDMA_WRITE_WITH_IMMEDIATE -> {
                assignRemote(from);
                immediate = from.immediate();
            }
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD -> {
                assignRemote(from);
                compareAdd = from.compareAdd();
                swap = from.swap();
            }
            case FLUSH -> {
                assignRemote(from);
                flushLength = from.flushLength();
                flushPlacement = from.flushPlacement();
                flushSelectivity = from.flushSelectivity();
            }
            case BIND_MEMORY_WINDOW -> {
                window = from.window();
                windowBind = from.windowBind();
                windowRkey = from.windowRkey();
            }
        }
    }

    private void assignRemote(SendWorkRequest from) {
        remoteAddress = from.remoteAddress();
        rkey = from.rkey();
    }

    /** Says where a datagram goes. */
    public void route(Route newRoute, int queuePair, int qkey) {
        route = newRoute;
        remoteQueuePair = queuePair;
        remoteQkey = qkey;
    }

    /** Forgets what it points to, so that nothing is kept alive by a request that is over. */
    public void release() {
        piece.clear();
        window = null;
        windowBind = null;
    }

    /** Makes inline data the payload instead of the elements; {@link #appendInline} gives it. */
    public void beginInline() {
        length = 0;
        isInline = true;
    }

    /** The payload is inline data that was gathered before {@link #assign}. */
    public void inlined(long byteCount) {
        length = byteCount;
        isInline = true;
    }

    /**
     * Copies bytes to the end of the inline data, where they fit.
     *
     * @throws IllegalStateException if the data's arena was closed
     * @throws InternalError if the file that the data maps was truncated
     */
    public void appendInline(MemorySegment data, long offset, long byteCount) {
        if (inlineBuffer != null) {
            ApplicationMemory.copy(data, offset, inlineBuffer, length, byteCount);
        }
        length += byteCount;
    }

    /**
     * Hands out where a range of the message lies, piece by piece.
     *
     * @param offset where it starts in the message
     * @return false if an element names memory that may not be read
     */
    public boolean gather(long offset, int byteCount, Memory memory, PayloadTarget target) {
        if (isInline && inlineBuffer != null) {
            if (byteCount > 0) {
                target.addPayload(inlineBuffer, offset, byteCount);
            }
            return true;
        }
        if (elements.count == 1 && offset + byteCount <= length) {
            return byteCount == 0 || gatherElement(0, offset, byteCount, memory, target);
        }
        long skip = offset;
        int left = byteCount;
        for (int i = 0; i < elements.count && left > 0; i++) {
            long inElement = elements.lengths[i] - skip;
            if (inElement <= 0) {
                skip = -inElement;
                continue;
            }
            int take = (int) Math.min(inElement, left);
            if (!gatherElement(i, skip, take, memory, target)) {
                return false;
            }
            left -= take;
            skip = 0;
        }
        return true;
    }

    private boolean gatherElement(int element, long skip, int byteCount, Memory memory,
            PayloadTarget target) {
        if (!memory.local(elements.lkeys[element], elements.addresses[element] + skip, byteCount,
                false, piece)) {
            return false;
        }
        target.addPayload(piece, byteCount);
        return true;
    }

    /** {@return the number of its elements} */
    public int elementCount() {
        return elements.count;
    }

    /** {@return the address of an element} */
    public long elementAddress(int index) {
        return elements.addresses[index];
    }

    /** {@return the bytes of an element} */
    public long elementLength(int index) {
        return elements.lengths[index];
    }

    /** {@return the key of an element} */
    public int elementLkey(int index) {
        return elements.lkeys[index];
    }

    /** {@return the bytes from an offset on that lie in one piece} */
    public long contiguous(long offset) {
        if (isInline) {
            return length - offset;
        }
        long skip = offset;
        for (int i = 0; i < elements.count; i++) {
            long inElement = elements.lengths[i] - skip;
            if (inElement > 0) {
                return inElement;
            }
            skip = -inElement;
        }
        return 0;
    }

    /**
     * Copies response data into the elements.
     *
     * @param offset where it belongs in the message
     */
    public CopyOutcome scatter(long offset, MemorySegment source, long sourceOffset, int byteCount,
            Memory memory) {
        return Scatter.into(elements, offset, source, sourceOffset, byteCount, memory, piece);
    }

    /** {@return the caller's number} */
    public long id() {
        return id;
    }

    /** {@return what to do} */
    public SendOpcode opcode() {
        return opcode;
    }

    /** {@return whether success is reported} */
    public boolean isSignaled() {
        return isSignaled;
    }

    /** {@return whether the peer's armed completion queue is woken} */
    public boolean isSolicited() {
        return (flags & SOLICITED) != 0;
    }

    /** {@return whether earlier READs and atomics must be complete first} */
    public boolean isFenced() {
        return (flags & FENCE) != 0;
    }

    /** {@return the bytes of the message} */
    public long length() {
        return length;
    }

    /** {@return the 32 bits beside the message} */
    public int immediate() {
        return immediate;
    }

    /** {@return the key to invalidate} */
    public int invalidateRkey() {
        return invalidateRkey;
    }

    /** {@return the peer's address} */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** {@return the peer's key} */
    public int rkey() {
        return rkey;
    }

    /** {@return what an atomic compares with or adds} */
    public long compareAdd() {
        return compareAdd;
    }

    /** {@return what a compare and swap stores} */
    public long swap() {
        return swap;
    }

    /** {@return the bytes a FLUSH covers} */
    public long flushLength() {
        return flushLength;
    }

    /** {@return how far the data of a FLUSH is brought, the bits of {@code FlushPlacement}} */
    public int flushPlacement() {
        return flushPlacement;
    }

    /** {@return what a FLUSH covers} */
    public FlushSelectivity flushSelectivity() {
        return flushSelectivity;
    }

    /** {@return where a datagram goes; null for what is no datagram} */
    public @Nullable Route route() {
        return route;
    }

    /** {@return the queue pair a datagram goes to} */
    public int remoteQueuePairNumber() {
        return remoteQueuePair;
    }

    /** {@return the Q_Key of a datagram} */
    public int remoteQkey() {
        return remoteQkey;
    }

    /** {@return the memory window to bind, or null} */
    public @Nullable MemoryWindow window() {
        return window;
    }

    /** {@return what the window shall cover, or null} */
    public @Nullable MemoryWindowBind windowBind() {
        return windowBind;
    }

    /** {@return the key the window shall have} */
    public int windowRkey() {
        return windowRkey;
    }

    /** {@return whether it concerns this side alone and takes no packet} */
    public boolean isLocal() {
        return (traits & IS_LOCAL) != 0;
    }

    /**
     * Notes the packets that it consists of; the first is about to be sent.
     *
     * @param first number of the first one
     * @param end number of the packet behind the last
     * @param message its number among the messages to the peer, from 1; where it takes several requests of the wire that of the last one sent
     * @param receive how many receive requests of the peer messages up to this one consume
     */
    public void begin(long first, long end, long message, long receive) {
        firstPsn = first;
        endPsn = end;
        messageNumber = message;
        receiveNumber = receive;
    }

    /** Another request of the wire belongs to it. */
    public void messageNumber(long message) {
        messageNumber = message;
    }

    /** {@return the number of its first packet, since it has begun} */
    public long firstPsn() {
        return firstPsn;
    }

    /** {@return the number of the packet behind its last} */
    public long endPsn() {
        return endPsn;
    }

    /** {@return its number among the messages to the peer} */
    public long messageNumber() {
        return messageNumber;
    }

    /** {@return how many receive requests of the peer messages up to this one consume} */
    public long receiveNumber() {
        return receiveNumber;
    }

    /** {@return whether a local operation has been carried out} */
    public boolean isCarriedOut() {
        return isCarriedOut;
    }

    /** A local operation has been carried out. */
    public void carriedOut() {
        isCarriedOut = true;
    }

    /** {@return whether it consumes a receive request of the peer} */
    public boolean consumesReceive() {
        return (traits & CONSUMES_RECEIVE) != 0;
    }

    /** {@return whether it completes only with a response of its own, not by an acknowledgement} */
    public boolean awaitsResponse() {
        return (traits & AWAITS_RESPONSE) != 0;
    }

    /** {@return the bytes its completion reports: what came back} */
    public long bytesReturned() {
        return (traits & RETURNS_BYTES) == 0 ? 0 : length;
    }

    private static int[] traits() {
        int[] traits = new int[Short.SIZE];
        for (SendOpcode each : SendOpcode.values()) {
            traits[each.code()] = switch (each) {
                case SEND -> CONSUMES_RECEIVE;
                case SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE_WITH_IMMEDIATE ->
                    CONSUMES_RECEIVE | HAS_MORE;
                case RDMA_WRITE -> HAS_MORE;
                case RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD ->
                    AWAITS_RESPONSE | RETURNS_BYTES | HAS_MORE;
                case FLUSH, ATOMIC_WRITE -> AWAITS_RESPONSE | HAS_MORE;
                case LOCAL_INVALIDATE, BIND_MEMORY_WINDOW -> IS_LOCAL | HAS_MORE;
            };
        }
        return traits;
    }
}
