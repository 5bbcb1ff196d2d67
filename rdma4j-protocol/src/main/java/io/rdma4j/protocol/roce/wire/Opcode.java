// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import org.jspecify.annotations.Nullable;

/**
 * The opcode table: one row for each packet of the base transport header.
 *
 * <p>Source: IBTA 9.2.1, table 38; for FLUSH and ATOMIC WRITE annex A19; for the congestion notification
 * packet annex A17.9.3.
 */
public enum Opcode {
    /** First packet of a longer SEND. */
    RC_SEND_FIRST(0x00, Service.RC, Kind.SEND, Position.FIRST, 0),
    /** Middle packet of a SEND. */
    RC_SEND_MIDDLE(0x01, Service.RC, Kind.SEND, Position.MIDDLE, 0),
    /** Last packet of a SEND. */
    RC_SEND_LAST(0x02, Service.RC, Kind.SEND, Position.LAST, 0),
    /** Last packet of a SEND with immediate. */
    RC_SEND_LAST_IMMEDIATE(0x03, Service.RC, Kind.SEND, Position.LAST, Header.IMMEDIATE),
    /** A SEND of one packet. */
    RC_SEND_ONLY(0x04, Service.RC, Kind.SEND, Position.ONLY, 0),
    /** A SEND with immediate of one packet. */
    RC_SEND_ONLY_IMMEDIATE(0x05, Service.RC, Kind.SEND, Position.ONLY, Header.IMMEDIATE),
    /** First packet of a longer WRITE. */
    RC_WRITE_FIRST(0x06, Service.RC, Kind.WRITE, Position.FIRST, Header.RETH),
    /** Middle packet of a WRITE. */
    RC_WRITE_MIDDLE(0x07, Service.RC, Kind.WRITE, Position.MIDDLE, 0),
    /** Last packet of a WRITE. */
    RC_WRITE_LAST(0x08, Service.RC, Kind.WRITE, Position.LAST, 0),
    /** Last packet of a WRITE with immediate. */
    RC_WRITE_LAST_IMMEDIATE(0x09, Service.RC, Kind.WRITE, Position.LAST, Header.IMMEDIATE),
    /** A WRITE of one packet. */
    RC_WRITE_ONLY(0x0a, Service.RC, Kind.WRITE, Position.ONLY, Header.RETH),
    /** A WRITE with immediate of one packet. */
    RC_WRITE_ONLY_IMMEDIATE(0x0b, Service.RC, Kind.WRITE, Position.ONLY,
            Header.RETH | Header.IMMEDIATE),
    /** Asks for a READ. */
    RC_READ_REQUEST(0x0c, Service.RC, Kind.READ_REQUEST, Position.ONLY, Header.RETH),
    /** First packet of a longer READ response. */
    RC_READ_RESPONSE_FIRST(0x0d, Service.RC, Kind.READ_RESPONSE, Position.FIRST, Header.AETH),
    /** Middle packet of a READ response. */
    RC_READ_RESPONSE_MIDDLE(0x0e, Service.RC, Kind.READ_RESPONSE, Position.MIDDLE, 0),
    /** Last packet of a READ response. */
    RC_READ_RESPONSE_LAST(0x0f, Service.RC, Kind.READ_RESPONSE, Position.LAST, Header.AETH),
    /** A READ response of one packet. */
    RC_READ_RESPONSE_ONLY(0x10, Service.RC, Kind.READ_RESPONSE, Position.ONLY, Header.AETH),
    /** An acknowledgement, positive or negative. */
    RC_ACKNOWLEDGE(0x11, Service.RC, Kind.ACKNOWLEDGE, Position.ONLY, Header.AETH),
    /** The answer to an atomic operation. */
    RC_ATOMIC_ACKNOWLEDGE(0x12, Service.RC, Kind.ATOMIC_ACKNOWLEDGE, Position.ONLY,
            Header.AETH | Header.ATOMIC_ACK),
    /** Asks for a compare and swap. */
    RC_COMPARE_SWAP(0x13, Service.RC, Kind.COMPARE_SWAP, Position.ONLY, Header.ATOMIC),
    /** Asks for a fetch and add. */
    RC_FETCH_ADD(0x14, Service.RC, Kind.FETCH_ADD, Position.ONLY, Header.ATOMIC),
    /** Last packet of a SEND that invalidates a key. */
    RC_SEND_LAST_INVALIDATE(0x16, Service.RC, Kind.SEND, Position.LAST, Header.INVALIDATE),
    /** A SEND of one packet that invalidates a key. */
    RC_SEND_ONLY_INVALIDATE(0x17, Service.RC, Kind.SEND, Position.ONLY, Header.INVALIDATE),
    /** Asks to make earlier writes visible or persistent. */
    RC_FLUSH(0x1c, Service.RC, Kind.FLUSH, Position.ONLY, Header.FLUSH | Header.RETH),
    /** Writes 8 bytes atomically. */
    RC_ATOMIC_WRITE(0x1d, Service.RC, Kind.ATOMIC_WRITE, Position.ONLY, Header.RETH),

    /** First packet of a longer SEND. */
    UC_SEND_FIRST(0x20, Service.UC, Kind.SEND, Position.FIRST, 0),
    /** Middle packet of a SEND. */
    UC_SEND_MIDDLE(0x21, Service.UC, Kind.SEND, Position.MIDDLE, 0),
    /** Last packet of a SEND. */
    UC_SEND_LAST(0x22, Service.UC, Kind.SEND, Position.LAST, 0),
    /** Last packet of a SEND with immediate. */
    UC_SEND_LAST_IMMEDIATE(0x23, Service.UC, Kind.SEND, Position.LAST, Header.IMMEDIATE),
    /** A SEND of one packet. */
    UC_SEND_ONLY(0x24, Service.UC, Kind.SEND, Position.ONLY, 0),
    /** A SEND with immediate of one packet. */
    UC_SEND_ONLY_IMMEDIATE(0x25, Service.UC, Kind.SEND, Position.ONLY, Header.IMMEDIATE),
    /** First packet of a longer WRITE. */
    UC_WRITE_FIRST(0x26, Service.UC, Kind.WRITE, Position.FIRST, Header.RETH),
    /** Middle packet of a WRITE. */
    UC_WRITE_MIDDLE(0x27, Service.UC, Kind.WRITE, Position.MIDDLE, 0),
    /** Last packet of a WRITE. */
    UC_WRITE_LAST(0x28, Service.UC, Kind.WRITE, Position.LAST, 0),
    /** Last packet of a WRITE with immediate. */
    UC_WRITE_LAST_IMMEDIATE(0x29, Service.UC, Kind.WRITE, Position.LAST, Header.IMMEDIATE),
    /** A WRITE of one packet. */
    UC_WRITE_ONLY(0x2a, Service.UC, Kind.WRITE, Position.ONLY, Header.RETH),
    /** A WRITE with immediate of one packet. */
    UC_WRITE_ONLY_IMMEDIATE(0x2b, Service.UC, Kind.WRITE, Position.ONLY,
            Header.RETH | Header.IMMEDIATE),

    /** A datagram. */
    UD_SEND_ONLY(0x64, Service.UD, Kind.SEND, Position.ONLY, Header.DETH),
    /** A datagram with immediate. */
    UD_SEND_ONLY_IMMEDIATE(0x65, Service.UD, Kind.SEND, Position.ONLY,
            Header.DETH | Header.IMMEDIATE),

    /** Tells a sender of congestion on its path. */
    CONGESTION_NOTIFICATION(0x81, Service.CONGESTION, Kind.CONGESTION_NOTIFICATION, Position.ONLY,
            0);

    /** The transport service a packet belongs to. */
    public enum Service {
        /** Reliable connection. */
        RC,
        /** Unreliable connection. */
        UC,
        /** Unreliable datagram. */
        UD,
        /** Congestion management, of any service. */
        CONGESTION
    }

    /** The operation a packet is part of. */
    public enum Kind {
        /** SEND. */
        SEND,
        /** WRITE. */
        WRITE,
        /** Request of a READ. */
        READ_REQUEST,
        /** Response to a READ. */
        READ_RESPONSE,
        /** Acknowledgement. */
        ACKNOWLEDGE,
        /** Response to an atomic. */
        ATOMIC_ACKNOWLEDGE,
        /** Compare and swap. */
        COMPARE_SWAP,
        /** Fetch and add. */
        FETCH_ADD,
        /** FLUSH. */
        FLUSH,
        /** Atomic write. */
        ATOMIC_WRITE,
        /** Congestion notification. */
        CONGESTION_NOTIFICATION
    }

    /** The place of a packet in its message. */
    public enum Position {
        /** First of several. */
        FIRST,
        /** Neither first nor last. */
        MIDDLE,
        /** Last of several. */
        LAST,
        /** The only one. */
        ONLY
    }

    /** Bits for the extended headers, which follow the base header in this order. */
    static final class Header {
        static final int DETH = 1;
        static final int FLUSH = 1 << 1;
        static final int RETH = 1 << 2;
        static final int ATOMIC = 1 << 3;
        static final int AETH = 1 << 4;
        static final int ATOMIC_ACK = 1 << 5;
        static final int IMMEDIATE = 1 << 6;
        static final int INVALIDATE = 1 << 7;
        static final int END = 1 << 8;

        private static final int[] LENGTHS = {8, 4, 16, 28, 4, 8, 4, 4};

        private Header() {}

        private static final int ALL = (1 << LENGTHS.length) - 1;
        /** By the headers that are there and the number of a header's bit: computed once, not a packet. */
        private static final int[][] OFFSETS = new int[ALL + 1][];

        static {
            for (int headers = 0; headers <= ALL; headers++) {
                OFFSETS[headers] = offsets(headers);
            }
        }

        /** {@return where one of {@code headers} starts in a packet; behind all of them for {@link #END}} */
        static int offset(int headers, int header) {
            return OFFSETS[headers][Integer.numberOfTrailingZeros(header)];
        }

        private static int[] offsets(int headers) {
            int[] offsets = new int[LENGTHS.length + 1];
            offsets[0] = BTH_LENGTH;
            for (int i = 0; i < LENGTHS.length; i++) {
                boolean isThere = (headers & 1 << i) != 0;
                offsets[i + 1] = offsets[i] + (isThere ? LENGTHS[i] : 0);
            }
            return offsets;
        }
    }

    /** Bytes of the base transport header. */
    public static final int BTH_LENGTH = 12;
    /** Bytes of the longest headers of one packet. */
    public static final int MAX_HEADER_LENGTH = BTH_LENGTH + 32;

    private static final @Nullable Opcode[] BY_CODE = new Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    private final int code;
    private final Service service;
    private final Kind kind;
    private final Position position;
    private final int headers;
    private final int headerLength;

    Opcode(int code, Service service, Kind kind, Position position, int headers) {
        this.code = code;
        this.service = service;
        this.kind = kind;
        this.position = position;
        this.headers = headers;
        headerLength = Header.offset(headers, Header.END);
    }

    /** {@return the opcode of a byte, or null if there is none} */
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code & 0xff];
    }

    /** {@return the byte on the wire} */
    public int code() {
        return code;
    }

    /** {@return the transport service} */
    public Service service() {
        return service;
    }

    /** {@return the operation} */
    public Kind kind() {
        return kind;
    }

    /** {@return the place in the message} */
    public Position position() {
        return position;
    }

    /** {@return bytes of the base and extended headers} */
    public int headerLength() {
        return headerLength;
    }

    /** {@return whether this packet begins a message} */
    public boolean isStart() {
        return position == Position.FIRST || position == Position.ONLY;
    }

    /** {@return whether this packet ends a message} */
    public boolean isEnd() {
        return position == Position.LAST || position == Position.ONLY;
    }

    /** {@return whether this packet answers a request of the receiver} */
    public boolean isResponse() {
        return kind == Kind.ACKNOWLEDGE || kind == Kind.READ_RESPONSE
                || kind == Kind.ATOMIC_ACKNOWLEDGE;
    }

    /** {@return whether payload may follow the headers} */
    public boolean hasPayload() {
        return switch (kind) {
            case SEND, WRITE, READ_RESPONSE, ATOMIC_WRITE, CONGESTION_NOTIFICATION -> true;
            case READ_REQUEST, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD, FLUSH ->
                false;
        };
    }

    /** {@return whether an immediate header is there} */
    public boolean hasImmediate() {
        return (headers & Header.IMMEDIATE) != 0;
    }

    /** {@return whether an invalidate header is there} */
    public boolean hasInvalidate() {
        return (headers & Header.INVALIDATE) != 0;
    }

    /** {@return whether a datagram header is there} */
    public boolean hasDatagram() {
        return (headers & Header.DETH) != 0;
    }

    /** {@return whether an RDMA header is there} */
    public boolean hasRdma() {
        return (headers & Header.RETH) != 0;
    }

    /** {@return whether an acknowledgement header is there} */
    public boolean hasAcknowledgement() {
        return (headers & Header.AETH) != 0;
    }

    /** {@return whether an atomic header is there} */
    public boolean hasAtomic() {
        return (headers & Header.ATOMIC) != 0;
    }

    /** {@return whether an atomic acknowledgement header is there} */
    public boolean hasAtomicAcknowledgement() {
        return (headers & Header.ATOMIC_ACK) != 0;
    }

    /** {@return whether a flush header is there} */
    public boolean hasFlush() {
        return (headers & Header.FLUSH) != 0;
    }

    /** {@return the offset of a header from the start of the packet; it must be there} */
    int offset(int header) {
        return Header.offset(headers, header);
    }
}
