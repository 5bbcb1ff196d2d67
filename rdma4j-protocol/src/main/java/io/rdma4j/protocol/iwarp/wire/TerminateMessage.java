// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import io.rdma4j.protocol.bytes.Layouts;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * What the peer says when it ends a stream.
 *
 * <p>Linux's siw writes layer and kind of error in the other half of their byte, and the flags at the other end of theirs, as
 * its bit-fields lie on a little-endian machine; both are understood. It notices that it may not read some memory only when it
 * answers the READ, and then writes the length of the READ where its number belongs. Source: RFC 5040 4.8.
 *
 * @param cause null if the numbers are not known
 * @param layer the number of the layer
 * @param type the number of the kind of error
 * @param code the number of the error
 * @param readNumber which READ request of this side it is about, 0 if about none or if the peer does not say which
 * @param isAboutFirstRead whether it is about the READ request of this side whose response was to come next
 */
public record TerminateMessage(@Nullable TerminateCause cause, int layer, int type, int code,
        int readNumber, boolean isAboutFirstRead) {
    private static final int FLAGS_AT = 2;
    private static final int CONTROL_LENGTH = 4;
    private static final int RFC_FLAGS = 0xe0;
    private static final int SIW_FLAGS = 0x07;
    private static final int RFC_DDP_HEADER = 0x40;
    private static final int SIW_DDP_HEADER = 0x02;
    private static final int SIW_RDMAP_HEADER = 0x04;
    private static final int UNSPECIFIED = 0xff;
    /** The transport below, in the half of the byte where siw has the layer. */
    private static final int SIW_TRANSPORT = 0x02;

    /** {@return what a unit says, whose opcode is {@link RdmapOpcode#TERMINATE}} It may be truncated. */
    public static TerminateMessage of(FpduView view) {
        MemorySegment memory = view.memory();
        long at = view.payloadStart();
        int length = view.payloadLength();
        if (length < CONTROL_LENGTH) {
            return new TerminateMessage(null, 0, 0, 0, 0, false);
        }
        int first = memory.get(Layouts.U8, at) & 0xff;
        int code = memory.get(Layouts.U8, at + 1) & 0xff;
        // [RFC 5040 4.8-3]
        int flags = memory.get(Layouts.U8, at + FLAGS_AT) & 0xff;
        boolean isSiw = (flags & RFC_FLAGS) == 0
                && ((flags & SIW_FLAGS) != 0 || first == SIW_TRANSPORT);
        int layer = isSiw ? first & 0xf : first >> 4;
        int type = isSiw ? first >> 4 : first & 0xf;
        boolean hasHeader = (flags & (isSiw ? SIW_DDP_HEADER : RFC_DDP_HEADER)) != 0;
        long header = at + CONTROL_LENGTH;
        boolean isAboutRead = hasHeader && isRead(memory, header, length - CONTROL_LENGTH);
        // siw answers in order. It has both headers only if it was about to answer, and no number then.
        boolean isAboutFirstRead = isAboutRead && isSiw && (flags & SIW_RDMAP_HEADER) != 0;
        int readNumber = isAboutRead && !isAboutFirstRead
                ? memory.get(Layouts.U32, header + FpduView.MESSAGE_NUMBER_AT)
                : 0;
        return new TerminateMessage(TerminateCause.of(layer, type, code), layer, type, code,
                readNumber, isAboutFirstRead);
    }

    /** @param at where a length and the headers of the offending unit stand, as in a unit */
    private static boolean isRead(MemorySegment memory, long at, int length) {
        return length >= FpduView.MESSAGE_OFFSET_AT
                && (memory.get(Layouts.U8, at + FpduView.DDP_CONTROL_AT) & FpduView.IS_TAGGED) == 0
                && memory.get(Layouts.U32, at + FpduView.QUEUE_AT) == DdpQueue.READ_REQUESTS
                        .number();
    }

    /** {@return it in words, with the numbers behind them if they are not known} */
    public String text() {
        TerminateCause known = cause;
        if (known != null) {
            return known.text();
        }
        if (layer == 0 && type == 0 && code == 0) {
            return "the message that says why is cut short";
        }
        return String.format("%s: %s, %s (%d/%d/%d of RFC 5040 4.8)", layerText(), kindText(),
                codeText(), layer, type, code);
    }

    private String layerText() {
        return switch (layer) {
            case 0 -> "RDMAP";
            case 1 -> "DDP";
            case 2 -> "MPA";
            default -> "an unknown layer";
        };
    }

    /** RFC 5040 4.8, RFC 5041 7, RFC 5044 8. */
    private String kindText() {
        return switch (layer << 4 | type) {
            case 0x00, 0x10 -> "local catastrophic error";
            case 0x01 -> "remote protection error";
            case 0x02 -> "remote operation error";
            case 0x11 -> "tagged buffer error";
            case 0x12 -> "untagged buffer error";
            case 0x20 -> "MPA error";
            default -> "an unknown kind of error";
        };
    }

    /** What no stream of this side ends for. RFC 5040 4.8, RFC 5044 8, RFC 6581 6. */
    private String codeText() {
        return switch (layer << 12 | type << 8 | code) {
            case 0x0208 -> "catastrophic error, global";
            case 0x0209 -> "STag cannot be invalidated";
            case 0x2001 -> "TCP connection closed, terminated or lost";
            case 0x2005 -> "local catastrophic error";
            default -> code == UNSPECIFIED ? "unspecified" : "an unknown error";
        };
    }
}
