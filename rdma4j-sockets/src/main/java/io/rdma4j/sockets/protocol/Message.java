// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * The word of a message: its type in the upper 3 bits, and data. It travels as the immediate of a WRITE, in network order, or,
 * where there are no immediates, as the 4 bytes of a SEND, in the order of the sender. C: {@code rs_msg_set}.
 */
public final class Message {
    /** How many bytes a SEND with a word has. */
    public static final int BYTES = 4;
    /** The largest number that fits beside a type. */
    public static final int MAX_DATA = (1 << 29) - 1;

    /** The first bytes that are free in the peer's buffer now hold this many bytes. C: {@code RS_OP_DATA}. */
    static final int DATA = 0;
    /** How far the receiver may send, and perhaps a range that was written before. C: {@code RS_OP_SGL}. */
    static final int CREDITS = 4;
    /** A mapping that was written before, by its index. C: {@code RS_OP_IOMAP_SGL}. */
    static final int MAPPING = 6;
    /** {@link #DISCONNECT} or {@link #SHUTDOWN}. C: {@code RS_OP_CTRL}. */
    static final int CONTROL = 7;

    /** The sender neither sends nor receives any more. C: {@code RS_CTRL_DISCONNECT}. */
    static final int DISCONNECT = 0;
    /** Means nothing; librdmacm names it and does not send it. C: {@code RS_CTRL_KEEPALIVE}. */
    static final int KEEPALIVE = 1;
    /** The sender sends no more bytes. C: {@code RS_CTRL_SHUTDOWN}. */
    static final int SHUTDOWN = 2;

    private static final int TYPE_SHIFT = 29;

    private Message() {}

    static int of(int type, int data) {
        return type << TYPE_SHIFT | data;
    }

    static int type(int word) {
        return word >>> TYPE_SHIFT;
    }

    static int data(int word) {
        return word & MAX_DATA;
    }

    /** {@return whether a range may have been written before the message} Then it is in {@link RsocketStream#nextSlot}. */
    public static boolean isCredits(int word) {
        return type(word) == CREDITS;
    }

    /** {@return whether a mapping was written before the message} Then it is at {@link #index}. */
    public static boolean isMapping(int word) {
        return type(word) == MAPPING;
    }

    /** {@return the index of a mapping} */
    public static int index(int word) {
        return data(word);
    }
}
