// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import io.rdma4j.protocol.bytes.Layouts;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A frame that sets a connection up: the request of the initiator, or the reply of the responder.
 *
 * <p>An enhanced frame (revision 2 with {@link #ENHANCED}) carries two words before the private data: how many READs each side
 * serves and asks for at once, and how the initiator may send first. Source: RFC 5044 7.1, RFC 6581 5.
 *
 * @param isReply whether it is a reply
 * @param flags {@link #MARKERS}, {@link #CRC}, {@link #REJECT}, {@link #ENHANCED}
 * @param revision 0 to 255; 1 and 2 are known
 * @param inboundReads how many READs the sender serves at once, and {@link #PEER_TO_PEER} and {@link #SEND_RTR} above
 * @param outboundReads how many READs the sender asks for at once, and {@link #WRITE_RTR} and {@link #READ_RTR} above
 * @param privateData the application's
 */
public record MpaFrame(boolean isReply, int flags, int revision, int inboundReads,
        int outboundReads, byte[] privateData) {
    /** The sender wants to receive markers. */
    public static final int MARKERS = 0x80;
    /** The sender wants CRCs. */
    public static final int CRC = 0x40;
    /** The responder refuses. */
    public static final int REJECT = 0x20;
    /** The frame carries numbers of READs. */
    // [RFC 5044 7.1.1-3]
    public static final int ENHANCED = 0x10;

    /** The initiator will send first, by one of the units named. */
    public static final int PEER_TO_PEER = 0x8000;
    /** It may be a SEND of no bytes. */
    public static final int SEND_RTR = 0x4000;
    /** It may be a WRITE of no bytes. */
    public static final int WRITE_RTR = 0x8000;
    /** It may be a READ of no bytes. */
    public static final int READ_RTR = 0x4000;
    /** The bits of a word that are a number. */
    public static final int COUNT_MASK = 0x3fff;
    /** A number that says that there is nothing to agree on. */
    public static final int UNLIMITED = COUNT_MASK;

    /** The revision of RFC 5044. */
    private static final int FIRST_REVISION = 1;
    /** The revision with numbers of READs. */
    public static final int ENHANCED_REVISION = 2;
    /** Bytes before the numbers of READs and the private data. */
    public static final int HEADER_LENGTH = 20;
    /** The most bytes that may follow. */
    public static final int MAX_DATA = 512;
    /** Bytes of the numbers of READs. */
    public static final int READS_LENGTH = 4;

    /** What {@link #lengthOf} returns for what is no frame. */
    public static final int NOT_A_FRAME = -1;

    private static final int KEY_LENGTH = 16;
    private static final int FLAGS_AT = 16;
    private static final int REVISION_AT = 17;
    private static final int LENGTH_AT = 18;
    private static final byte[] REQUEST_KEY = "MPA ID Req Frame"
            .getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

    /**
     * {@return the bytes of the frame that a stream starts with; 0 if too few are there to tell, {@link #NOT_A_FRAME} if it
     * starts with something else}
     *
     * @param available the bytes that are there
     * @param isReply whether a reply is expected
     */
    public static int lengthOf(MemorySegment memory, long offset, long available, boolean isReply) {
        byte[] key = isReply ? REPLY_KEY : REQUEST_KEY;
        for (int i = 0; i < Math.min(available, KEY_LENGTH); i++) {
            // [RFC 5044 7.1.1-1]
            if (memory.get(Layouts.U8, offset + i) != key[i]) {
                return NOT_A_FRAME;
            }
        }
        if (available < HEADER_LENGTH) {
            return 0;
        }
        int data = memory.get(Layouts.U16, offset + LENGTH_AT) & 0xffff;
        boolean isLongEnough = !isEnhanced(memory, offset) || data >= READS_LENGTH;
        // [RFC 5044 7.1.1-5]
        return data <= MAX_DATA && isLongEnough ? HEADER_LENGTH + data : NOT_A_FRAME;
    }

    private static boolean isEnhanced(MemorySegment memory, long offset) {
        // [RFC 6581 6-1]
        return (memory.get(Layouts.U8, offset + FLAGS_AT) & ENHANCED) != 0
                && (memory.get(Layouts.U8, offset + REVISION_AT) & 0xff) >= ENHANCED_REVISION;
    }

    /** {@return the frame that starts there} All its bytes are there, as {@link #lengthOf} has said. */
    public static MpaFrame of(MemorySegment memory, long offset, boolean isReply) {
        boolean isEnhanced = isEnhanced(memory, offset);
        int skipped = isEnhanced ? READS_LENGTH : 0;
        int data = (memory.get(Layouts.U16, offset + LENGTH_AT) & 0xffff) - skipped;
        byte[] privateData = new byte[data];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset + HEADER_LENGTH + skipped,
                privateData, 0, data);
        return new MpaFrame(isReply, memory.get(Layouts.U8, offset + FLAGS_AT) & 0xff,
                memory.get(Layouts.U8, offset + REVISION_AT) & 0xff,
                isEnhanced ? word(memory, offset, 0) : UNLIMITED,
                isEnhanced ? word(memory, offset, 2) : UNLIMITED, privateData);
    }

    private static int word(MemorySegment memory, long offset, int at) {
        return memory.get(Layouts.U16, offset + HEADER_LENGTH + at) & 0xffff;
    }

    /** {@return the bytes of the frame} */
    public byte[] bytes() {
        int skipped = isEnhanced() ? READS_LENGTH : 0;
        byte[] bytes = new byte[HEADER_LENGTH + skipped + privateData.length];
        MemorySegment frame = MemorySegment.ofArray(bytes);
        MemorySegment.copy(isReply ? REPLY_KEY : REQUEST_KEY, 0, frame, ValueLayout.JAVA_BYTE, 0,
                KEY_LENGTH);
        frame.set(Layouts.U8, FLAGS_AT, (byte) flags);
        frame.set(Layouts.U8, REVISION_AT, (byte) revision);
        frame.set(Layouts.U16, LENGTH_AT, (short) (skipped + privateData.length));
        if (isEnhanced()) {
            frame.set(Layouts.U16, HEADER_LENGTH, (short) inboundReads);
            frame.set(Layouts.U16, HEADER_LENGTH + 2, (short) outboundReads);
        }
        MemorySegment.copy(privateData, 0, frame, ValueLayout.JAVA_BYTE, HEADER_LENGTH + skipped,
                privateData.length);
        return bytes;
    }

    /** {@return whether a flag is set} */
    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /**
     * {@return whether this side supports its revision} 1 is that of RFC 5044, whose senders set no other, and 2 that of RFC
     * 6581. 0 is that of earlier drafts, whose units are of another version as well.
     */
    public boolean isOfKnownRevision() {
        // [RFC 5044 7.1.1-4]
        return revision >= FIRST_REVISION && revision <= ENHANCED_REVISION;
    }

    /** {@return whether it carries numbers of READs} */
    public boolean isEnhanced() {
        return has(ENHANCED) && revision >= ENHANCED_REVISION;
    }

    /** {@return how many READs the sender serves at once, or {@link #UNLIMITED}} */
    public int inboundReadCount() {
        return inboundReads & COUNT_MASK;
    }

    /** {@return how many READs the sender asks for at once, or {@link #UNLIMITED}} */
    public int outboundReadCount() {
        return outboundReads & COUNT_MASK;
    }

    /** {@return whether the initiator is to send first} */
    public boolean isPeerToPeer() {
        return isEnhanced() && (inboundReads & PEER_TO_PEER) != 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MpaFrame frame && Arrays.equals(bytes(), frame.bytes());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes());
    }
}
