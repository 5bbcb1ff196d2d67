package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.roce.wire.Opcode.Header;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A received packet, checked once: after {@link #wrap} returned null no accessor fails, as long as the opcode has the
 * header.
 *
 * <p>Reusable; a view of memory it does not own, valid until that memory is used for something else.
 * Source: IBTA chapter 9, figure 96 ff.
 */
public final class PacketView {
    /** Bytes of the invariant CRC at the end. */
    public static final int ICRC_LENGTH = 4;

    private MemorySegment memory = MemorySegment.NULL;
    private long start;
    private int length;
    private Opcode opcode = Opcode.RC_ACKNOWLEDGE;
    private MemorySegment payloadMemory = MemorySegment.NULL;
    private long payloadStart;
    private int payloadLength;
    private int span = 1;
    private boolean isPayloadGone;
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
        Opcode found = Opcode.of(newMemory.get(Layouts.U8, offset));
        if (found == null) {
            return DropReason.UNKNOWN_OPCODE;
        }
        int payload = newLength - found.headerLength() - ICRC_LENGTH
                - padding(newMemory, offset);
        return set(newMemory, offset, found, newMemory, offset + found.headerLength(), payload, 1,
                newLength);
    }

    /**
     * Checks a packet that has come through shared memory, and so has no ICRC.
     *
     * @param header a private copy of its headers, from 0 on
     * @param newPayload the memory of the payload
     * @param newSpan how many packets of a message it represents
     * @return as {@link #wrap(MemorySegment, long, int)}
     */
    public @Nullable DropReason wrap(MemorySegment header, int headerLength,
            MemorySegment newPayload, long newPayloadStart, int newPayloadLength, int newSpan) {
        Opcode found = Opcode.of(header.get(Layouts.U8, 0));
        if (found == null) {
            return DropReason.UNKNOWN_OPCODE;
        }
        if (headerLength != found.headerLength()) {
            return DropReason.TOO_SHORT;
        }
        // Only packets of a reliable connection can be sent as one.
        if (newSpan != 1 && (found.service() != Opcode.Service.RC || newPayloadLength == 0)) {
            return DropReason.UNEXPECTED_PAYLOAD;
        }
        return set(header, 0, found, newPayload, newPayloadStart, newPayloadLength, newSpan,
                headerLength + newPayloadLength + padding(header, 0) + ICRC_LENGTH);
    }

    private static int padding(MemorySegment header, long offset) {
        return header.get(Layouts.U8, offset + 1) >>> 4 & 3;
    }

    private @Nullable DropReason set(MemorySegment header, long headerStart, Opcode found,
            MemorySegment newPayload, long newPayloadStart, int newPayloadLength, int newSpan,
            int newLength) {
        if ((header.get(Layouts.U8, headerStart + 1) & 0x0f) != 0) {
            return DropReason.BAD_VERSION;
        }
        if (newPayloadLength < 0) {
            return DropReason.TOO_SHORT;
        }
        if (newPayloadLength > 0 && !found.hasPayload()) {
            return DropReason.UNEXPECTED_PAYLOAD;
        }
        memory = header;
        start = headerStart;
        length = newLength;
        opcode = found;
        payloadMemory = newPayload;
        payloadStart = newPayloadStart;
        payloadLength = newPayloadLength;
        span = newSpan;
        isPayloadGone = false;
        return null;
    }

    /**
     * Checks a packet that does not leave this machine. A payload of one piece is not copied; there is no ICRC.
     *
     * @param room the memory for joining a payload of several pieces
     * @return false if the memory of the payload no longer exists; then the view must not be used
     */
    public boolean wrap(OutgoingPacket packet, MemorySegment room) {
        memory = packet.header();
        start = 0;
        length = packet.totalLength();
        opcode = packet.opcode();
        payloadLength = packet.payloadLength();
        span = packet.span();
        isPayloadGone = false;
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
        return opcode;
    }

    /** {@return how many packets of one message it represents: 1 for all from a socket} */
    public int span() {
        return span;
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
        return memory.get(Layouts.U8, start + 1) < 0;
    }

    /** {@return the partition key} */
    public int pkey() {
        return memory.get(Layouts.U16, start + 2) & 0xffff;
    }

    /** {@return the queue pair it goes to} */
    public int destinationQueuePairNumber() {
        return memory.get(Layouts.U32, start + 4) & Psn.MASK;
    }

    /** {@return whether an acknowledgement is asked for} */
    public boolean isAcknowledgeRequested() {
        return memory.get(Layouts.U8, start + 8) < 0;
    }

    /** {@return the packet sequence number, 24 bits} */
    public int psn() {
        return memory.get(Layouts.U32, start + 8) & Psn.MASK;
    }

    /** {@return DETH: the Q_Key} */
    public int qkey() {
        return memory.get(Layouts.U32, start + Opcode.BTH_LENGTH);
    }

    /** {@return DETH: the queue pair it comes from} */
    public int sourceQueuePairNumber() {
        return memory.get(Layouts.U32, start + Opcode.BTH_LENGTH + 4) & Psn.MASK;
    }

    /** {@return RETH: the address} */
    public long remoteAddress() {
        return memory.get(Layouts.U64, start + opcode.offset(Header.RETH));
    }

    /** {@return RETH: the key} */
    public int rkey() {
        return memory.get(Layouts.U32, start + opcode.offset(Header.RETH) + 8);
    }

    /** {@return RETH: the bytes of the whole message, unsigned 32 bits} */
    public long dmaLength() {
        return memory.get(Layouts.U32, start + opcode.offset(Header.RETH) + 12) & 0xffff_ffffL;
    }

    /** {@return AETH: the syndrome} */
    public int syndrome() {
        return memory.get(Layouts.U8, start + opcode.offset(Header.AETH)) & 0xff;
    }

    /** {@return AETH: the message sequence number, 24 bits} */
    public int messageNumber() {
        return memory.get(Layouts.U32, start + opcode.offset(Header.AETH)) & Psn.MASK;
    }

    /** {@return the immediate data} */
    public int immediate() {
        return memory.get(Layouts.U32, start + opcode.offset(Header.IMMEDIATE));
    }

    /** {@return the key to invalidate} */
    public int invalidateRkey() {
        return memory.get(Layouts.U32, start + opcode.offset(Header.INVALIDATE));
    }

    /** {@return AtomicETH: the address} */
    public long atomicAddress() {
        return memory.get(Layouts.U64, start + Opcode.BTH_LENGTH);
    }

    /** {@return AtomicETH: the key} */
    public int atomicRkey() {
        return memory.get(Layouts.U32, start + Opcode.BTH_LENGTH + 8);
    }

    /** {@return AtomicETH: what to swap in or to add} */
    public long swapAdd() {
        return memory.get(Layouts.U64, start + Opcode.BTH_LENGTH + 12);
    }

    /** {@return AtomicETH: what to compare with} */
    public long compare() {
        return memory.get(Layouts.U64, start + Opcode.BTH_LENGTH + 20);
    }

    /** {@return AtomicAckETH: the value before the operation} */
    public long originalValue() {
        return memory.get(Layouts.U64, start + opcode.offset(Header.ATOMIC_ACK));
    }

    /** {@return FETH: the placement type and selectivity level bits} */
    public int flush() {
        return memory.get(Layouts.U32, start + Opcode.BTH_LENGTH);
    }

    @Override
    public String toString() {
        return String.format("%s qp=0x%06x psn=%d payload=%d", opcode, destinationQueuePairNumber(),
                psn(),
                payloadLength);
    }
}
