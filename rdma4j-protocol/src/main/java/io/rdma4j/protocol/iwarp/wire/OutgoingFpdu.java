// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.work.PayloadPieces;
import io.rdma4j.protocol.work.PayloadTarget;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * A unit to be sent: its header, written here, and its payload as pieces of memory that stay where they are. The sender of
 * the byte stream copies both into it.
 *
 * <p>Reusable. {@link #begin} first, then what the opcode has, then the payload.
 */
public final class OutgoingFpdu implements PayloadTarget {
    /** What copying returns if the memory of a piece of payload is gone. */
    public static final int PAYLOAD_GONE = -1;

    private static final int HAS_SEGMENT_LENGTH = 1 << 15;
    private static final int HAS_DDP_HEADER = 1 << 14;
    private static final int HAS_RDMAP_HEADER = 1 << 13;
    private static final int LAYER_SHIFT = 28;
    private static final int TYPE_SHIFT = 24;
    private static final int CODE_SHIFT = 16;
    private static final int CONTROL_LENGTH = 4;
    /** The control word, a length and the longest header. */
    private static final int MAX_TERMINATE = CONTROL_LENGTH + RdmapOpcode.MAX_HEADER_LENGTH;

    private final MemorySegment header;
    private final MemorySegment terminate;
    private final PayloadPieces payload = new PayloadPieces();
    private RdmapOpcode opcode = RdmapOpcode.SEND;

    /** @param allocator allocates the memory for headers */
    public OutgoingFpdu(SegmentAllocator allocator) {
        header = allocator.allocate(RdmapOpcode.MAX_HEADER_LENGTH, 8);
        terminate = allocator.allocate(MAX_TERMINATE, 8);
    }

    /** Creates one with its headers on the heap, for a message that is sent once. */
    public OutgoingFpdu() {
        this((bytes, alignment) -> MemorySegment.ofArray(new long[((int) bytes + 7) >> 3]));
    }

    /** Starts a unit without payload. */
    public OutgoingFpdu begin(RdmapOpcode newOpcode, boolean isLast) {
        opcode = newOpcode;
        payload.begin();
        // [RFC 5040 4.1-1]
        int control = FpduView.DDP_VERSION | (isLast ? FpduView.IS_LAST : 0)
                | (newOpcode.isTagged() ? FpduView.IS_TAGGED : 0);
        header.set(Layouts.U8, FpduView.DDP_CONTROL_AT, (byte) control);
        // [RFC 5040 4.1-2]
        header.set(Layouts.U8, FpduView.RDMAP_CONTROL_AT,
                (byte) (FpduView.RDMAP_VERSION | newOpcode.code()));
        return this;
    }

    /** Says where a tagged unit goes. */
    public OutgoingFpdu tagged(int key, long offset) {
        header.set(Layouts.U32, FpduView.KEY_AT, key);
        header.set(Layouts.U64, FpduView.TAGGED_OFFSET_AT, offset);
        return this;
    }

    /**
     * Says which message an untagged unit belongs to.
     *
     * @param messageNumber a count from 1 on, of which 32 bits are sent
     * @param messageOffset the byte of the message that it starts with
     * @param invalidated the key that the message ends, 0 for none
     */
    public OutgoingFpdu untagged(long messageNumber, long messageOffset, int invalidated) {
        header.set(Layouts.U32, FpduView.KEY_AT, invalidated);
        header.set(Layouts.U32, FpduView.QUEUE_AT, opcode.queue().number());
        // [RFC 5041 4.3-2]
        header.set(Layouts.U32, FpduView.MESSAGE_NUMBER_AT, (int) messageNumber);
        header.set(Layouts.U32, FpduView.MESSAGE_OFFSET_AT, (int) messageOffset);
        return this;
    }

    /** Says what a READ asks for, and where it goes. */
    public OutgoingFpdu read(int sinkKey, long sinkOffset, long length, int sourceKey,
            long sourceOffset) {
        header.set(Layouts.U32, FpduView.SINK_KEY_AT, sinkKey);
        header.set(Layouts.U64, FpduView.SINK_OFFSET_AT, sinkOffset);
        header.set(Layouts.U32, FpduView.READ_LENGTH_AT, (int) length);
        header.set(Layouts.U32, FpduView.SOURCE_KEY_AT, sourceKey);
        header.set(Layouts.U64, FpduView.SOURCE_OFFSET_AT, sourceOffset);
        return this;
    }

    /**
     * Makes it the message that ends a stream.
     *
     * @param offending the unit that was wrong, null if none was
     */
    public OutgoingFpdu terminate(TerminateCause cause, @Nullable FpduView offending) {
        // [RFC 5040 5.4-1]
        begin(RdmapOpcode.TERMINATE, true).untagged(1, 0, 0);
        // [RFC 5040 4.8-1]
        int control = cause.layer() << LAYER_SHIFT | cause.type() << TYPE_SHIFT
                | cause.code() << CODE_SHIFT;
        int length = CONTROL_LENGTH;
        if (offending != null && offending.ulpduLength() >= offending.ddpHeaderLength()) {
            // [RFC 5040 4.8-2]
            boolean isRead = offending.opcode() == RdmapOpcode.READ_REQUEST
                    && offending.ulpduLength() + FpduView.PREFIX_LENGTH == RdmapOpcode.READ_REQUEST
                            .headerLength();
            int headers = isRead ? offending.ulpduLength() : offending.ddpHeaderLength();
            control |= HAS_SEGMENT_LENGTH | HAS_DDP_HEADER | (isRead ? HAS_RDMAP_HEADER : 0);
            // The length of the segment stands before its header there as well as here.
            MemorySegment.copy(offending.memory(), offending.start(), terminate, length,
                    FpduView.PREFIX_LENGTH + headers);
            length += FpduView.PREFIX_LENGTH + headers;
        }
        terminate.set(Layouts.U32, 0, control);
        addPayload(terminate, 0, length);
        return this;
    }

    @Override
    public void addPayload(MemorySegment memory, long offset, int length) {
        payload.addPayload(memory, offset, length);
    }

    /** Forgets the payload, so that no memory is kept alive by a unit that has left. */
    public void release() {
        payload.release();
    }

    /** {@return the opcode} */
    public RdmapOpcode opcode() {
        return opcode;
    }

    /** {@return the bytes of the unit, from the length to the CRC} */
    public int length() {
        return FpduView.lengthOf(opcode.headerLength() - FpduView.PREFIX_LENGTH + payload.length());
    }

    /**
     * Copies the whole unit.
     *
     * @param target room for {@link #length} bytes
     * @param crc null if the sides have agreed on none; the field is zero then
     * @return the bytes copied, or {@link #PAYLOAD_GONE}
     */
    public int copyTo(MemorySegment target, long offset, @Nullable Crc32c crc) {
        int headerLength = opcode.headerLength();
        header.set(Layouts.U16, 0,
                (short) (headerLength - FpduView.PREFIX_LENGTH + payload.length()));
        MemorySegment.copy(header, 0, target, offset, headerLength);
        if (!payload.copyTo(target, offset + headerLength)) {
            return PAYLOAD_GONE;
        }
        long at = offset + headerLength + payload.length();
        // Headers, with the length, are a multiple of four bytes.
        // [RFC 5044 4.1-1]
        for (int i = payload.padding(); i > 0; i--) {
            target.set(Layouts.U8, at++, (byte) 0);
        }
        int covered = (int) (at - offset);
        // [RFC 5044 4.1-2]
        target.set(Layouts.U32_LITTLE, at, crc == null ? 0 : crc.of(target, offset, covered));
        return covered + FpduView.CRC_LENGTH;
    }
}
