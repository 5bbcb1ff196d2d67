// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.PayloadPieces;
import io.rdma4j.protocol.work.PayloadTarget;
import io.rdma4j.protocol.work.Registration;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A packet to send: its headers, and its payload as pieces of memory that stay where they are until the network gathers both
 * and adds the ICRC.
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

    private final PacketHeaders headers = new PacketHeaders();
    private Path path = Path.NONE;
    private final PayloadPieces payload = new PayloadPieces();
    private int span = 1;
    private boolean hasPiggyback;
    private long piggyback;

    /** Creates a packet that is to be begun. */
    public OutgoingPacket() {}

    /**
     * Starts a packet without payload.
     *
     * @param psn a count, of which 24 bits are sent
     */
    public OutgoingPacket begin(Opcode opcode, Path newPath, int destinationQueuePair, long psn,
            boolean acknowledgeRequest, boolean solicited) {
        path = newPath;
        payload.begin();
        span = 1;
        hasPiggyback = false;
        headers.begin(opcode, DEFAULT_PKEY, destinationQueuePair, Psn.wrap(psn),
                acknowledgeRequest, solicited);
        return this;
    }

    /** {@return the number of the queue pair it is for} */
    public int destinationQueuePairNumber() {
        return headers.destinationQueuePair();
    }

    /** Sets the datagram header. */
    public OutgoingPacket datagram(int qkey, int sourceQueuePair) {
        headers.qkey = qkey;
        headers.sourceQueuePair = sourceQueuePair & Psn.MASK;
        return this;
    }

    /** Sets the RDMA header. */
    public OutgoingPacket rdma(long address, int rkey, long dmaLength) {
        headers.address = address;
        headers.rkey = rkey;
        headers.dmaLength = (int) dmaLength;
        return this;
    }

    /** Sets the acknowledgement header. */
    public OutgoingPacket acknowledgement(int syndrome, long messageNumber) {
        headers.acknowledgement = syndrome << 24 | Psn.wrap(messageNumber);
        return this;
    }

    /** Sets the immediate data. */
    public OutgoingPacket immediate(int value) {
        headers.immediateOrKey = value;
        return this;
    }

    /** Sets the key to invalidate. */
    public OutgoingPacket invalidate(int rkey) {
        headers.immediateOrKey = rkey;
        return this;
    }

    /** Sets the atomic header. */
    public OutgoingPacket atomic(long address, int rkey, long swapAdd, long compare) {
        headers.address = address;
        headers.rkey = rkey;
        headers.swapAdd = swapAdd;
        headers.compare = compare;
        return this;
    }

    /** Sets the atomic acknowledgement header. */
    public OutgoingPacket atomicAcknowledgement(long originalValue) {
        headers.original = originalValue;
        return this;
    }

    /** Sets the flush header: placement, and selectivity above {@link #FLUSH_SELECTIVITY_SHIFT}. Source: IBTA annex A19. */
    public OutgoingPacket flush(int bits) {
        headers.flush = bits;
        return this;
    }

    /**
     * Lets it carry an acknowledgement of its own queue pair, which counts before the packet itself. No header of the wire can
     * say so: only for a path that is memory.
     *
     * @param psn a count, of which 24 bits are sent
     */
    public OutgoingPacket piggyback(long psn, int syndrome, long messageNumber) {
        hasPiggyback = true;
        piggyback = Piggyback.of(Psn.wrap(psn), syndrome, Psn.wrap(messageNumber));
        return this;
    }

    /** {@return whether it carries an acknowledgement} */
    public boolean hasPiggyback() {
        return hasPiggyback;
    }

    /** {@return the acknowledgement that it carries, in the form of {@link Piggyback}} */
    public long piggyback() {
        return piggyback;
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
        // [IBTA 9.2-2]
        // The pad count makes the payload a multiple of four bytes. IBTA 9.2.2.
        headers.padding(padding());
    }

    @Override
    public void addPayload(MemoryReference place, int length) {
        payload.addPayload(place, length);
        headers.padding(padding());
    }

    /** Forgets the payload, so that no memory is kept alive by a packet that has left. */
    public void release() {
        payload.release();
    }

    /** {@return the opcode} */
    public Opcode opcode() {
        return headers.opcode;
    }

    /** {@return its path} */
    public Path path() {
        return path;
    }

    /** {@return how many packets it represents, 1 unless {@link #span(int)} was called} */
    public int span() {
        return span;
    }

    PacketHeaders headers() {
        return headers;
    }

    /** {@return bytes of the headers} */
    public int headerLength() {
        return headers.opcode.headerLength();
    }

    /** Writes the headers. */
    public void copyHeadersTo(MemorySegment target, long offset) {
        headers.write(target, offset);
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

    /** {@return what has allowed the access to the payload, if it is one piece of registered memory; otherwise null} */
    public @Nullable Registration registration() {
        return payload.registration();
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
        headers.write(target, offset);
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
        headers.write(index, index == span - 1, target, offset);
        return payload.copyTo(0, (long) index * payloadBytes, target, offset + headerBytes,
                payloadBytes)
                        ? headerBytes + payloadBytes
                        : PAYLOAD_GONE;
    }

    /** {@return whether the payload was copied, without padding: false if the memory of a piece no longer exists} */
    public boolean copyPayloadTo(MemorySegment target, long offset) {
        return payload.copyTo(target, offset);
    }
}
