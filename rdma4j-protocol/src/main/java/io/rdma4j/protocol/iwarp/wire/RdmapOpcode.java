// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import org.jspecify.annotations.Nullable;

/**
 * The opcode table: one row for each message of RDMAP.
 *
 * <p>A tagged message says where its bytes go; an untagged one goes to a queue of the receiver, and its segments say which
 * message of that queue they belong to. Source: RFC 5040 4.1 to 4.8, RFC 5041 4.
 */
public enum RdmapOpcode {
    /** Writes into the receiver's memory. */
    WRITE(0, DdpQueue.NONE, 16),
    /** Asks for bytes of the receiver's memory. */
    READ_REQUEST(1, DdpQueue.READ_REQUESTS, 48),
    /** Brings them. */
    READ_RESPONSE(2, DdpQueue.NONE, 16),
    /** Consumes a receive. */
    SEND(3, DdpQueue.SENDS, 20),
    /** Consumes a receive, and ends a key of the receiver. */
    SEND_INVALIDATE(4, DdpQueue.SENDS, 20),
    /** Consumes a receive, and asks for an event. */
    SEND_SOLICITED(5, DdpQueue.SENDS, 20),
    /** Consumes a receive, asks for an event, and ends a key of the receiver. */
    SEND_SOLICITED_INVALIDATE(6, DdpQueue.SENDS, 20),
    /** Says why the stream ends. */
    TERMINATE(7, DdpQueue.TERMINATES, 20);

    /** The longest header, with the length before it. */
    public static final int MAX_HEADER_LENGTH = 48;

    private static final RdmapOpcode[] BY_CODE = values();

    private final int code;
    private final DdpQueue queue;
    private final int headerLength;

    RdmapOpcode(int code, DdpQueue queue, int headerLength) {
        this.code = code;
        this.queue = queue;
        this.headerLength = headerLength;
    }

    /** {@return the opcode of a number, null if there is none} */
    public static @Nullable RdmapOpcode of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** {@return the number on the wire} */
    public int code() {
        return code;
    }

    /** {@return the queue of the receiver it goes to} */
    public DdpQueue queue() {
        return queue;
    }

    /** {@return whether it says itself where its bytes go} */
    public boolean isTagged() {
        return queue == DdpQueue.NONE;
    }

    /** {@return the bytes before the payload, with those of the length} */
    public int headerLength() {
        return headerLength;
    }

    /** {@return whether it asks for an event} */
    public boolean isSolicited() {
        return this == SEND_SOLICITED || this == SEND_SOLICITED_INVALIDATE;
    }

    /** {@return whether it ends a key of the receiver} */
    public boolean invalidates() {
        return this == SEND_INVALIDATE || this == SEND_SOLICITED_INVALIDATE;
    }
}
