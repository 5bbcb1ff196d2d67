package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.roce.wire.Opcode.Header;
import io.rdma4j.protocol.work.PayloadPieces;
import io.rdma4j.protocol.work.PayloadTarget;

import java.lang.foreign.MemorySegment;

/**
 * A packet to send: its headers, written here, and its payload as pieces of memory that stay where they are until the
 * network gathers both and adds the ICRC.
 *
 * <p>Reusable. {@link #begin} first, then the headers the opcode has, then the payload.
 */
public final class OutgoingPacket implements PayloadTarget {
    /** The P_Key of the default partition, with full membership. */
    public static final int DEFAULT_PKEY = 0xffff;

    /** The position of the selectivity in the header of a FLUSH. */
    public static final int FLUSH_SELECTIVITY_SHIFT = 4;

    /** The result of copying if the memory of a piece of payload no longer exists. */
    public static final int PAYLOAD_GONE = -1;

    /** The offset of the PSN, which is in one word with the request for an acknowledgement. */
    private static final int PSN = 8;
    private static final int ACKNOWLEDGE_REQUEST = 1 << 31;

    private final MemorySegment header;
    private Opcode opcode = Opcode.RC_ACKNOWLEDGE;
    private Path path = Path.NONE;
    private final PayloadPieces payload = new PayloadPieces();
    private int span = 1;

    /** @param header at least {@link Opcode#MAX_HEADER_LENGTH} bytes to write headers into */
    public OutgoingPacket(MemorySegment header) {
        this.header = header;
    }

    /**
     * Starts a packet without payload.
     *
     * @param psn a count, of which 24 bits are sent
     */
    public OutgoingPacket begin(Opcode newOpcode, Path newPath, int destinationQueuePair, long psn,
            boolean acknowledgeRequest, boolean solicited) {
        opcode = newOpcode;
        path = newPath;
        payload.begin();
        span = 1;
        header.set(Layouts.U8, 0, (byte) newOpcode.code());
        header.set(Layouts.U8, 1, (byte) (solicited ? 0x80 : 0));
        header.set(Layouts.U16, 2, (short) DEFAULT_PKEY);
        header.set(Layouts.U32, 4, destinationQueuePair & Psn.MASK);
        header.set(Layouts.U32, PSN,
                Psn.wrap(psn) | (acknowledgeRequest ? ACKNOWLEDGE_REQUEST : 0));
        return this;
    }

    /** {@return the number of the queue pair it is for} */
    public int destinationQueuePairNumber() {
        return header.get(Layouts.U32, 4) & Psn.MASK;
    }

    /** Writes the datagram header. */
    public OutgoingPacket datagram(int qkey, int sourceQueuePair) {
        header.set(Layouts.U32, Opcode.BTH_LENGTH, qkey);
        header.set(Layouts.U32, Opcode.BTH_LENGTH + 4, sourceQueuePair & Psn.MASK);
        return this;
    }

    /** Writes the RDMA header. */
    public OutgoingPacket rdma(long address, int rkey, long dmaLength) {
        int at = opcode.offset(Header.RETH);
        header.set(Layouts.U64, at, address);
        header.set(Layouts.U32, at + 8, rkey);
        header.set(Layouts.U32, at + 12, (int) dmaLength);
        return this;
    }

    /** Writes the acknowledgement header. */
    public OutgoingPacket acknowledgement(int syndrome, long messageNumber) {
        header.set(Layouts.U32, opcode.offset(Header.AETH),
                syndrome << 24 | Psn.wrap(messageNumber));
        return this;
    }

    /** Writes the immediate data. */
    public OutgoingPacket immediate(int value) {
        header.set(Layouts.U32, opcode.offset(Header.IMMEDIATE), value);
        return this;
    }

    /** Writes the key to invalidate. */
    public OutgoingPacket invalidate(int rkey) {
        header.set(Layouts.U32, opcode.offset(Header.INVALIDATE), rkey);
        return this;
    }

    /** Writes the atomic header. */
    public OutgoingPacket atomic(long address, int rkey, long swapAdd, long compare) {
        header.set(Layouts.U64, Opcode.BTH_LENGTH, address);
        header.set(Layouts.U32, Opcode.BTH_LENGTH + 8, rkey);
        header.set(Layouts.U64, Opcode.BTH_LENGTH + 12, swapAdd);
        header.set(Layouts.U64, Opcode.BTH_LENGTH + 20, compare);
        return this;
    }

    /** Writes the atomic acknowledgement header. */
    public OutgoingPacket atomicAcknowledgement(long originalValue) {
        header.set(Layouts.U64, opcode.offset(Header.ATOMIC_ACK), originalValue);
        return this;
    }

    /** Writes the flush header: placement, and selectivity above {@link #FLUSH_SELECTIVITY_SHIFT}. Source: IBTA annex A19. */
    public OutgoingPacket flush(int bits) {
        header.set(Layouts.U32, Opcode.BTH_LENGTH, bits);
        return this;
    }

    /**
     * Makes it represent several packets of one message. On a path back to the same device it stays whole, and may be longer
     * than any path MTU. Elsewhere these are middle packets whose payload, in one piece, is split evenly; {@link
     * #copyTo(int, MemorySegment, long)} builds each of them.
     *
     * @param packets the number of packets, and of PSNs
     */
    public OutgoingPacket span(int packets) {
        span = packets;
        return this;
    }

    @Override
    public void addPayload(MemorySegment memory, long offset, int length) {
        payload.addPayload(memory, offset, length);
        // The pad count makes the payload a multiple of four bytes. IBTA 9.2.2.
        int flags = header.get(Layouts.U8, 1) & 0xcf;
        header.set(Layouts.U8, 1, (byte) (flags | padding() << 4));
    }

    /** Forgets the payload, so that no memory is kept alive by a packet that has left. */
    public void release() {
        payload.release();
    }

    /** {@return the opcode} */
    public Opcode opcode() {
        return opcode;
    }

    /** {@return its path} */
    public Path path() {
        return path;
    }

    /** {@return how many packets it represents, 1 unless {@link #span(int)} was called} */
    public int span() {
        return span;
    }

    /** {@return the memory the headers start in, at 0} */
    public MemorySegment header() {
        return header;
    }

    /** {@return bytes of the headers} */
    public int headerLength() {
        return opcode.headerLength();
    }

    /** {@return the number of pieces of payload} */
    public int pieceCount() {
        return payload.count();
    }

    /** {@return the memory of a piece} */
    public MemorySegment piece(int index) {
        return payload.piece(index);
    }

    /** {@return the offset of a piece in its memory} */
    public long pieceOffset(int index) {
        return payload.offset(index);
    }

    /** {@return the bytes of payload, without padding} */
    public int payloadLength() {
        return payload.length();
    }

    /** {@return the zero bytes between payload and ICRC} */
    public int padding() {
        return payload.padding();
    }

    /** {@return the bytes of the whole UDP payload, ICRC included} */
    public int totalLength() {
        return headerLength() + payload.length() + padding() + PacketView.ICRC_LENGTH;
    }

    /** {@return the length of the UDP payload of each represented packet, including the ICRC} */
    public int packetLength() {
        return headerLength() + payload.length() / span + padding() + PacketView.ICRC_LENGTH;
    }

    /**
     * Copies headers, payload and padding, without the ICRC.
     *
     * @param target room for {@link #totalLength} bytes
     * @return the bytes copied, or {@link #PAYLOAD_GONE}
     */
    public int copyTo(MemorySegment target, long offset) {
        int headerBytes = headerLength();
        MemorySegment.copy(header, 0, target, offset, headerBytes);
        if (!copyPayloadTo(target, offset + headerBytes)) {
            return PAYLOAD_GONE;
        }
        long at = offset + headerBytes + payload.length();
        for (int i = padding(); i > 0; i--) {
            target.set(Layouts.U8, at++, (byte) 0);
        }
        return (int) (at - offset);
    }

    /**
     * Copies one of the represented packets, without the ICRC. The last one requests an acknowledgement, if any does.
     *
     * @param index 0 for the first
     * @param target room for {@link #packetLength} bytes
     * @return the bytes copied, or {@link #PAYLOAD_GONE}
     */
    public int copyTo(int index, MemorySegment target, long offset) {
        if (span == 1) {
            return copyTo(target, offset);
        }
        int headerBytes = headerLength();
        int payloadBytes = payload.length() / span;
        MemorySegment.copy(header, 0, target, offset, headerBytes);
        int first = header.get(Layouts.U32, PSN);
        int request = index == span - 1 ? first & ACKNOWLEDGE_REQUEST : 0;
        target.set(Layouts.U32, offset + PSN, Psn.wrap((long) first + index) | request);
        return payload.copyTo(0, (long) index * payloadBytes, target, offset + headerBytes,
                payloadBytes)
                        ? headerBytes + payloadBytes
                        : PAYLOAD_GONE;
    }

    /** Copies the payload, without padding. {@return false if the memory of a piece no longer exists} */
    public boolean copyPayloadTo(MemorySegment target, long offset) {
        return payload.copyTo(target, offset);
    }
}
