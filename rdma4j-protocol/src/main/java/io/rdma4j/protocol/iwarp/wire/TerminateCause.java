// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import org.jspecify.annotations.Nullable;

/**
 * Why a stream ends: the layer that noticed it, the kind of error, and its code.
 *
 * <p>Source: RFC 5040 4.8, figure 10 ff.; RFC 5041 7; RFC 5044 8; RFC 6581 6.
 */
public enum TerminateCause {
    /** RDMAP: something failed on the side that says so. */
    RDMAP_CATASTROPHIC(0, 0, 0, "local catastrophic error"),
    /** RDMAP: the key of a READ is unknown. */
    READ_INVALID_KEY(0, 1, 0, "invalid STag"),
    /** RDMAP: a READ beyond the memory. */
    READ_OUT_OF_BOUNDS(0, 1, 1, "base or bounds violation"),
    /** RDMAP: the memory may not be read. */
    READ_NOT_ALLOWED(0, 1, 2, "access rights violation"),
    /** RDMAP: the key is another protection domain's. */
    READ_OTHER_DOMAIN(0, 1, 3, "STag not associated with RDMAP stream"),
    /** RDMAP: address and length of a READ pass the end of the number range. */
    READ_WRAPS(0, 1, 4, "TO wrap"),
    /** RDMAP: the key may not be invalidated. */
    CANNOT_INVALIDATE(0, 1, 9, "STag cannot be invalidated"),
    /** RDMAP: another version. */
    RDMAP_VERSION(0, 2, 5, "invalid RDMAP version"),
    /** RDMAP: an opcode that there is not, or not there. */
    UNEXPECTED_OPCODE(0, 2, 6, "unexpected opcode"),
    /** RDMAP: an error of this stream, as more READs than were agreed on. */
    STREAM_CATASTROPHIC(0, 2, 7, "catastrophic error, localized to RDMAP stream"),

    /** DDP: something failed on the side that says so. */
    DDP_CATASTROPHIC(1, 0, 0, "local catastrophic error"),
    /** DDP: the key of a WRITE or READ response is unknown, or does not allow it. */
    // [RFC 5041 7.2-1]
    TAGGED_INVALID_KEY(1, 1, 0, "invalid STag"),
    /** DDP: a WRITE or READ response beyond the memory. */
    TAGGED_OUT_OF_BOUNDS(1, 1, 1, "base or bounds violation"),
    /** DDP: the key is another protection domain's. */
    TAGGED_OTHER_DOMAIN(1, 1, 2, "STag not associated with DDP stream"),
    /** DDP: address and length pass the end of the number range. */
    TAGGED_WRAPS(1, 1, 3, "TO wrap"),
    /** DDP: another version, in a tagged segment. */
    TAGGED_VERSION(1, 1, 4, "invalid DDP version"),
    /** DDP: a queue that there is not, or of another opcode. */
    INVALID_QUEUE(1, 2, 1, "invalid QN"),
    /** DDP: no receive is posted. */
    NO_RECEIVE(1, 2, 2, "invalid MSN: no buffer available"),
    /** DDP: a message out of turn. */
    INVALID_MESSAGE_NUMBER(1, 2, 3, "invalid MSN: MSN range is not valid"),
    /** DDP: a segment out of turn. */
    INVALID_MESSAGE_OFFSET(1, 2, 4, "invalid MO"),
    /** DDP: a message longer than its receive. */
    MESSAGE_TOO_LONG(1, 2, 5, "DDP message too long for available buffer"),
    /** DDP: another version, in an untagged segment. */
    UNTAGGED_VERSION(1, 2, 6, "invalid DDP version"),

    /** MPA: the CRC of a unit is wrong. */
    // [RFC 5044 8-1]
    WRONG_CRC(2, 0, 2, "MPA CRC error"),
    /** MPA: a unit is too short for its header. */
    WRONG_LENGTH(2, 0, 3, "MPA marker and ULPDU length fields do not match"),
    /** MPA: a frame of the set-up is none. */
    INVALID_FRAME(2, 0, 4, "invalid MPA request or response frame"),
    /** MPA: this side serves fewer READs at once than the other insists on. */
    INSUFFICIENT_READS(2, 0, 6, "insufficient IRD resources"),
    /** MPA: the sides know no common way for the initiator to send first. */
    NO_MATCHING_RTR(2, 0, 7, "no matching RTR option");

    private static final TerminateCause[] ALL = values();

    private final int layer;
    private final int type;
    private final int code;
    private final String text;

    TerminateCause(int layer, int type, int code, String text) {
        this.layer = layer;
        this.type = type;
        this.code = code;
        this.text = text;
    }

    /** {@return the cause of these numbers, null if it is not known} */
    public static @Nullable TerminateCause of(int layer, int type, int code) {
        for (TerminateCause cause : ALL) {
            if (cause.layer == layer && cause.type == type && cause.code == code) {
                return cause;
            }
        }
        return null;
    }

    /** {@return the number of the layer: 0 RDMAP, 1 DDP, 2 the transport below} */
    public int layer() {
        return layer;
    }

    /** {@return the number of the kind of error} */
    public int type() {
        return type;
    }

    /** {@return the number of the error} */
    public int code() {
        return code;
    }

    /** {@return the error in words} */
    public String text() {
        return text;
    }
}
