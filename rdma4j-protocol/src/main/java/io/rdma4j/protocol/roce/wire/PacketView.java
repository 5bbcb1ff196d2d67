// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A received packet, checked once: after {@link #wrap} returned null no accessor fails, as long as the opcode has the
 * header.
 *
 * <p>Reusable. The payload is memory that it does not own, valid until that is used for something else.
 * Source: IBTA chapter 9, figure 96 ff.
 */
public final class PacketView {
    /** Bytes of the invariant CRC at the end. */
    public static final int ICRC_LENGTH = 4;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** Those of packets that were in memory. */
    private final PacketHeaders read = new PacketHeaders();
    private PacketHeaders headers = read;
    private int length;
    private MemorySegment payloadMemory = MemorySegment.NULL;
    private long payloadStart;
    private int payloadLength;
    private int span = 1;
    private boolean hasPiggyback;
    private long piggyback;
    private boolean isPayloadGone;
    private boolean isLent;
    /** Only if it is lent. */
    private boolean isCopied;
    /** Where the sender says that it withdraws the payload. */
    private MemorySegment withdrawal = MemorySegment.NULL;
    private long withdrawalAt;
    private Gid source = Gid.ZERO;
    private Gid destination = Gid.ZERO;

    /** Creates an empty view. */
    public PacketView() {}

    /**
     * Checks a datagram.
     *
     * @param newMemory where it is
     * @param offset where it starts
     * @param newLength its bytes, ICRC included
     * @return null if it is a packet, otherwise why not; then the view must not be used
     */
    public @Nullable DropReason wrap(MemorySegment newMemory, long offset, int newLength) {
        if (newLength < Opcode.BTH_LENGTH + ICRC_LENGTH) {
            return DropReason.TOO_SHORT;
        }
        if (!read.readBase(newMemory, offset)) {
            return DropReason.UNKNOWN_OPCODE;
        }
        int headerLength = read.opcode.headerLength();
        int payload = newLength - headerLength - ICRC_LENGTH - read.padding();
        return set(newMemory, offset, newMemory, offset + headerLength, payload, 1, newLength);
    }

    /**
     * Checks a packet that has come through shared memory, and so has no ICRC. The headers are read once, so another process
     * may change them meanwhile.
     *
     * @param memory the memory of the headers
     * @param headerLength the bytes of the headers, {@link Opcode#BTH_LENGTH} at least
     * @param newSpan how many packets of a message it represents
     * @return as {@link #wrap(MemorySegment, long, int)}
     */
    public @Nullable DropReason wrap(MemorySegment memory, long headerStart, int headerLength,
            MemorySegment newPayload, long newPayloadStart, int newPayloadLength, int newSpan) {
        if (!read.readBase(memory, headerStart)) {
            return DropReason.UNKNOWN_OPCODE;
        }
        Opcode found = read.opcode;
        if (headerLength != found.headerLength()) {
            return DropReason.TOO_SHORT;
        }
        // Only packets of a reliable connection can be sent as one.
        if (newSpan != 1 && (found.service() != Opcode.Service.RC || newPayloadLength == 0)) {
            return DropReason.UNEXPECTED_PAYLOAD;
        }
        return set(memory, headerStart, newPayload, newPayloadStart, newPayloadLength, newSpan,
                headerLength + newPayloadLength + read.padding() + ICRC_LENGTH);
    }

    private @Nullable DropReason set(MemorySegment memory, long headerStart,
            MemorySegment newPayload, long newPayloadStart, int newPayloadLength, int newSpan,
            int newLength) {
        // [IBTA 9.2-1]
        if (read.version() != 0) {
            return DropReason.BAD_VERSION;
        }
        if (newPayloadLength < 0) {
            return DropReason.TOO_SHORT;
        }
        if (newPayloadLength > 0 && !read.opcode.hasPayload()) {
            return DropReason.UNEXPECTED_PAYLOAD;
        }
        read.readExtended(memory, headerStart);
        headers = read;
        hasPiggyback = false;
        length = newLength;
        payloadMemory = newPayload;
        payloadStart = newPayloadStart;
        payloadLength = newPayloadLength;
        span = newSpan;
        isPayloadGone = false;
        isLent = false;
        return null;
    }

    /**
     * Checks a packet that does not leave this machine. A payload of one piece is not copied; there is no ICRC.
     *
     * @param room the memory for joining a payload of several pieces
     * @return false if the memory of the payload no longer exists; then the view must not be used
     */
    public boolean wrap(OutgoingPacket packet, MemorySegment room) {
        headers = packet.headers();
        hasPiggyback = packet.hasPiggyback();
        piggyback = packet.piggyback();
        length = packet.totalLength();
        payloadLength = packet.payloadLength();
        span = packet.span();
        isPayloadGone = false;
        isLent = false;
        if (packet.pieceCount() == 1) {
            payloadMemory = packet.piece(0);
            payloadStart = packet.pieceOffset(0);
            return payloadMemory.scope().isAlive();
        }
        payloadMemory = room;
        payloadStart = 0;
        return packet.copyPayloadTo(room, 0);
    }

    /**
     * Must be called if the memory of the payload no longer existed when it was to be copied. The packet is then lost.
     */
    public void onPayloadGone() {
        isPayloadGone = true;
    }

    /** {@return whether the memory of the payload no longer existed} Never true for a packet from a network. */
    public boolean isPayloadGone() {
        return isPayloadGone;
    }

    /**
     * Says that the payload is memory of another process, which has lent it and may withdraw it at any time; after {@link
     * #wrap}.
     *
     * @param memory where a word says so, 0 as long as it has not
     * @param at the place of that word, aligned
     */
    public void lent(MemorySegment memory, long at) {
        isLent = true;
        isCopied = false;
        withdrawal = memory;
        withdrawalAt = at;
    }

    /** {@return whether the payload is memory that another process lends} Who cannot have it has to ask that process again. */
    public boolean isLent() {
        return isLent;
    }

    /**
     * To be called right after the payload was copied, before anything follows from it.
     *
     * @param copied how the copying has ended
     * @return the same, but {@link CopyOutcome#SOURCE_GONE} if the sender has withdrawn the payload: then the bytes may be others
     */
    public CopyOutcome settle(CopyOutcome copied) {
        if (!isLent || copied != CopyOutcome.DONE) {
            return copied;
        }
        // The sender withdraws first, and then changes the bytes.
        VarHandle.loadLoadFence();
        isCopied = (long) LONG.getAcquire(withdrawal, withdrawalAt) == 0;
        return isCopied ? CopyOutcome.DONE : CopyOutcome.SOURCE_GONE;
    }

    /** {@return whether the payload was copied from where another process has lent it, and not withdrawn before} */
    public boolean wasBorrowed() {
        return isLent && isCopied;
    }

    /** Forgets the payload, so that no memory is kept alive by a packet that was handled. */
    public void release() {
        payloadMemory = MemorySegment.NULL;
        payloadLength = 0;
    }

    /** Sets source and destination; for the receiver of the packet. */
    public void travelled(Gid from, Gid to) {
        source = from;
        destination = to;
    }

    /** {@return its source address} */
    public Gid source() {
        return source;
    }

    /** {@return its destination: a local address or a multicast group} */
    public Gid destination() {
        return destination;
    }

    /** {@return its bytes, ICRC included} */
    public int length() {
        return length;
    }

    /** {@return its opcode} */
    public Opcode opcode() {
        return headers.opcode;
    }

    /** {@return how many packets of one message it represents: 1 for all from a socket} */
    public int span() {
        return span;
    }

    /** Sets the acknowledgement that a packet of a reliable connection carries; after {@link #wrap}. */
    public void piggyback(long acknowledgement) {
        hasPiggyback = true;
        piggyback = acknowledgement;
    }

    /** {@return whether it carries an acknowledgement, which counts before the packet itself} */
    public boolean hasPiggyback() {
        return hasPiggyback;
    }

    /** {@return the acknowledgement that it carries, in the form of {@link Piggyback}} */
    public long piggyback() {
        return piggyback;
    }

    /** {@return the memory the payload is in} */
    public MemorySegment payloadMemory() {
        return payloadMemory;
    }

    /** {@return the offset of the payload in {@link #payloadMemory}} */
    public long payloadStart() {
        return payloadStart;
    }

    /** {@return the bytes of payload, without padding} */
    public int payloadLength() {
        return payloadLength;
    }

    /** {@return whether the sender asks for a solicited event} */
    public boolean isSolicited() {
        return headers.isSolicited();
    }

    /** {@return the partition key} */
    public int pkey() {
        return headers.pkey();
    }

    /** {@return the queue pair it goes to} */
    public int destinationQueuePairNumber() {
        return headers.destinationQueuePair();
    }

    /** {@return whether an acknowledgement is asked for} */
    public boolean isAcknowledgeRequested() {
        return headers.isAcknowledgeRequested();
    }

    /** {@return the packet sequence number, 24 bits} */
    public int psn() {
        return headers.psn();
    }

    /** {@return DETH: the Q_Key} */
    public int qkey() {
        return headers.qkey;
    }

    /** {@return DETH: the queue pair it comes from} */
    public int sourceQueuePairNumber() {
        return headers.sourceQueuePair;
    }

    /** {@return RETH: the address} */
    public long remoteAddress() {
        return headers.address;
    }

    /** {@return RETH: the key} */
    public int rkey() {
        return headers.rkey;
    }

    /** {@return RETH: the bytes of the whole message, unsigned 32 bits} */
    public long dmaLength() {
        return Integer.toUnsignedLong(headers.dmaLength);
    }

    /** {@return AETH: the syndrome} */
    public int syndrome() {
        return headers.acknowledgement >>> 24;
    }

    /** {@return AETH: the message sequence number, 24 bits} */
    public int messageNumber() {
        return headers.acknowledgement & Psn.MASK;
    }

    /** {@return the immediate data} */
    public int immediate() {
        return headers.immediateOrKey;
    }

    /** {@return the key to invalidate} */
    public int invalidateRkey() {
        return headers.immediateOrKey;
    }

    /** {@return AtomicETH: the address} */
    public long atomicAddress() {
        return headers.address;
    }

    /** {@return AtomicETH: the key} */
    public int atomicRkey() {
        return headers.rkey;
    }

    /** {@return AtomicETH: what to swap in or to add} */
    public long swapAdd() {
        return headers.swapAdd;
    }

    /** {@return AtomicETH: what to compare with} */
    public long compare() {
        return headers.compare;
    }

    /** {@return AtomicAckETH: the value before the operation} */
    public long originalValue() {
        return headers.original;
    }

    /** {@return FETH: the placement type and selectivity level bits} */
    public int flush() {
        return headers.flush;
    }

    @Override
    public String toString() {
        return String.format("%s qp=0x%06x psn=%d payload=%d", opcode(),
                destinationQueuePairNumber(), psn(), payloadLength);
    }
}
