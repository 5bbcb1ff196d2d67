// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import io.rdma4j.protocol.bytes.Layouts;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A complete received unit of a byte stream (FPDU), checked once: after {@link #wrap} returned null no accessor fails, as
 * long as the opcode has the field.
 *
 * <p>A length, the headers of DDP and RDMAP, payload, padding to a multiple of four bytes, and a CRC. Reusable; a view of
 * memory it does not own. Source: RFC 5044 4.1, RFC 5041 4.1, RFC 5040 4.
 */
public final class FpduView {
    /** Bytes of the CRC at the end. */
    public static final int CRC_LENGTH = 4;
    /** Bytes of the length at the start, which the length does not count. */
    public static final int PREFIX_LENGTH = 2;
    /** The longest unit that a length can name. */
    public static final int MAX_LENGTH = lengthOf(0xffff);
    /** The longest unit that may be sent: the standard allows less than a length can name. */
    // [RFC 5044 3-1]
    public static final int MAX_SENT_LENGTH = PREFIX_LENGTH + 64_768 + CRC_LENGTH & ~3;

    static final int IS_TAGGED = 0x80;
    static final int IS_LAST = 0x40;
    // [RFC 5041 4.1-3]
    static final int DDP_VERSION = 1;
    static final int RDMAP_VERSION = 1 << 6;
    static final int DDP_CONTROL_AT = 2;
    static final int RDMAP_CONTROL_AT = 3;
    static final int KEY_AT = 4;
    static final int TAGGED_OFFSET_AT = 8;
    static final int QUEUE_AT = 8;
    static final int MESSAGE_NUMBER_AT = 12;
    static final int MESSAGE_OFFSET_AT = 16;
    static final int SINK_KEY_AT = 20;
    static final int SINK_OFFSET_AT = 24;
    static final int READ_LENGTH_AT = 32;
    static final int SOURCE_KEY_AT = 36;
    static final int SOURCE_OFFSET_AT = 40;

    private static final int TAGGED_HEADER = 14;
    private static final int UNTAGGED_HEADER = 18;
    private static final int DDP_VERSION_MASK = 3;
    private static final int RDMAP_VERSION_MASK = 3 << 6;
    private static final int OPCODE_MASK = 0xf;

    private MemorySegment memory = MemorySegment.NULL;
    private long start;
    private int ulpduLength;
    private RdmapOpcode opcode = RdmapOpcode.TERMINATE;

    /** Creates an empty view. */
    public FpduView() {}

    /**
     * {@return the bytes of a unit, from the length to the CRC}
     *
     * @param ulpduLength the value of its length field
     */
    static int lengthOf(int ulpduLength) {
        return (PREFIX_LENGTH + ulpduLength + 3 & ~3) + CRC_LENGTH;
    }

    /**
     * {@return the length of the unit at an offset, 0 if too few bytes have arrived to know it}
     *
     * @param available the bytes that are there
     */
    public static int lengthOf(MemorySegment memory, long offset, long available) {
        // [RFC 5044 5.2-1]
        return available < PREFIX_LENGTH ? 0 : lengthOf(memory.get(Layouts.U16, offset) & 0xffff);
    }

    /**
     * Checks a unit, all bytes of which have arrived.
     *
     * @return null if it is valid, otherwise its error; then it may only be passed to {@link OutgoingFpdu#terminate}
     */
    public @Nullable TerminateCause wrap(MemorySegment newMemory, long offset) {
        memory = newMemory;
        start = offset;
        ulpduLength = newMemory.get(Layouts.U16, offset) & 0xffff;
        // Reset, so that an invalid unit does not show the opcode of the previous one.
        opcode = RdmapOpcode.TERMINATE;
        if (ulpduLength < ddpHeaderLength()) {
            return TerminateCause.WRONG_LENGTH;
        }
        // [RFC 5041 4.1-4]
        if ((ddpControl() & DDP_VERSION_MASK) != DDP_VERSION) {
            return isTagged() ? TerminateCause.TAGGED_VERSION : TerminateCause.UNTAGGED_VERSION;
        }
        int control = rdmapControl();
        if ((control & RDMAP_VERSION_MASK) != RDMAP_VERSION) {
            return TerminateCause.RDMAP_VERSION;
        }
        // [RFC 5040 7.2-1]
        RdmapOpcode found = RdmapOpcode.of(control & OPCODE_MASK);
        if (found == null || found.isTagged() != isTagged()) {
            return TerminateCause.UNEXPECTED_OPCODE;
        }
        // [RFC 5040 4.2-1]
        if (PREFIX_LENGTH + ulpduLength < found.headerLength()) {
            return TerminateCause.WRONG_LENGTH;
        }
        opcode = found;
        if (!isTagged() && u32(QUEUE_AT) != found.queue().number()) {
            return TerminateCause.INVALID_QUEUE;
        }
        boolean isWhole = found == RdmapOpcode.READ_REQUEST || found == RdmapOpcode.TERMINATE;
        if (isWhole && (!isLast() || messageOffset() != 0)) {
            return TerminateCause.INVALID_MESSAGE_OFFSET;
        }
        return found == RdmapOpcode.READ_REQUEST && payloadLength() > 0
                ? TerminateCause.MESSAGE_TOO_LONG
                : null;
    }

    private int ddpControl() {
        return memory.get(Layouts.U8, start + DDP_CONTROL_AT);
    }

    private int rdmapControl() {
        return memory.get(Layouts.U8, start + RDMAP_CONTROL_AT) & 0xff;
    }

    private int u32(int at) {
        return memory.get(Layouts.U32, start + at);
    }

    private long u64(int at) {
        return memory.get(Layouts.U64, start + at);
    }

    private boolean isTagged() {
        return ulpduLength > 0 && (ddpControl() & IS_TAGGED) != 0;
    }

    /** {@return the memory it is in} */
    public MemorySegment memory() {
        return memory;
    }

    /** {@return its offset in its memory} */
    public long start() {
        return start;
    }

    /** {@return the number of its bytes, from the length to the CRC} */
    public int length() {
        return lengthOf(ulpduLength);
    }

    /** {@return the value of its length field} */
    public int ulpduLength() {
        return ulpduLength;
    }

    /** {@return the bytes of the header of DDP} */
    public int ddpHeaderLength() {
        return isTagged() ? TAGGED_HEADER : UNTAGGED_HEADER;
    }

    /** {@return the opcode} */
    public RdmapOpcode opcode() {
        return opcode;
    }

    /** {@return whether it is the last of its message} */
    public boolean isLast() {
        return (ddpControl() & IS_LAST) != 0;
    }

    /** {@return the key of the target of a tagged unit, or the key that a SEND invalidates} */
    public int key() {
        return u32(KEY_AT);
    }

    /** {@return the target address of a tagged unit} */
    public long taggedOffset() {
        return u64(TAGGED_OFFSET_AT);
    }

    /** {@return which message of its queue an untagged one belongs to; the first is 1} */
    public int messageNumber() {
        return u32(MESSAGE_NUMBER_AT);
    }

    /** {@return the byte of its message that an untagged one starts with} */
    public long messageOffset() {
        return u32(MESSAGE_OFFSET_AT) & 0xffff_ffffL;
    }

    /** {@return the key of the target of a READ response} */
    public int sinkKey() {
        return u32(SINK_KEY_AT);
    }

    /** {@return the target address of a READ response} */
    public long sinkOffset() {
        return u64(SINK_OFFSET_AT);
    }

    /** {@return the number of bytes that a READ requests} */
    public long readLength() {
        return u32(READ_LENGTH_AT) & 0xffff_ffffL;
    }

    /** {@return the key of the memory that a READ requests} */
    public int sourceKey() {
        return u32(SOURCE_KEY_AT);
    }

    /** {@return the address of the memory that a READ requests} */
    public long sourceOffset() {
        return u64(SOURCE_OFFSET_AT);
    }

    /** {@return the offset of the payload in its memory} */
    public long payloadStart() {
        // [RFC 5044 4.3-2]
        return start + opcode.headerLength();
    }

    /** {@return the bytes of payload} */
    public int payloadLength() {
        return PREFIX_LENGTH + ulpduLength - opcode.headerLength();
    }

    /** {@return whether its CRC is right} */
    public boolean hasRightCrc(Crc32c crc) {
        // [RFC 5044 4.4-2]
        int covered = length() - CRC_LENGTH;
        return crc.of(memory, start, covered) == memory.get(Layouts.U32_LITTLE, start + covered);
    }
}
