// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * What to post next: a WRITE, or none; and the word of a message, or none. It is filled by {@link RsocketStream}, and used
 * again. Where there are no immediates, the word follows in a SEND; only the last request of a transmission is signalled.
 */
public final class Transmission {
    /** What the WRITE carries. */
    public enum Content {
        /** {@link #length} bytes of the send buffer from {@link #offset} on, which may go on at its beginning. */
        BUFFER,
        /** {@link #length} bytes that the caller has at hand, as inline data; no memory of the buffer is used. */
        INLINE,
        /** {@link #range}, as inline data in the order of the peer. */
        RANGE,
        /** {@link #mapping}, as inline data in the order of the peer. */
        MAPPING,
        /** Nothing: with immediates a WRITE of no bytes carries the word. */
        NOTHING
    }

    private static final RemoteRange NO_RANGE = new RemoteRange(0, 0, 0);
    private static final Mapping NO_MAPPING = new Mapping(0, NO_RANGE);
    private static final int SHIFT = 32;
    private static final int SEQUENCED = 1;
    private static final int CONTROL = 2;
    private static final int LAST = 3;

    private Content content = Content.NOTHING;
    private int offset;
    private boolean isFromLarger;
    private int length;
    private long remoteAddress;
    private int remoteKey;
    private boolean hasWord;
    private int word;
    private long id;
    private RemoteRange range = NO_RANGE;
    private Mapping mapping = NO_MAPPING;

    /** {@return what the WRITE carries} */
    public Content content() {
        return content;
    }

    /** {@return where its bytes begin in the send buffer} */
    public int offset() {
        return offset;
    }

    /** {@return whether that is the larger send buffer ({@link RsocketStream#enlargeOutput})} */
    public boolean isFromLarger() {
        return isFromLarger;
    }

    /** {@return how many bytes it writes from the buffer or from the caller} */
    public int length() {
        return length;
    }

    /** {@return where it writes} */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** {@return the peer's key for that} */
    public int remoteKey() {
        return remoteKey;
    }

    /** {@return whether there is a word} */
    public boolean hasWord() {
        return hasWord;
    }

    /** {@return the word of the message} */
    public int word() {
        return word;
    }

    /** {@return the range to write} */
    public RemoteRange range() {
        return range;
    }

    /** {@return the mapping to write} */
    public Mapping mapping() {
        return mapping;
    }

    /** {@return what {@link RsocketStream#onSent} wants when the last request has completed} */
    public long id() {
        return id;
    }

    // ---------------------------------------------------------------- for the stream

    /** Bytes in order, with their message. */
    Transmission bytes(boolean isInline, int at, int count, long address, int key) {
        return fill(isInline ? Content.INLINE : Content.BUFFER, at, count, address, key)
                .word(Message.of(Message.DATA, count)).id(SEQUENCED, isInline ? 0 : count);
    }

    /** Bytes to a mapping, without a message. */
    Transmission mapped(int at, int count, long address, int key) {
        hasWord = false;
        return fill(Content.BUFFER, at, count, address, key).id(SEQUENCED, count);
    }

    /** Says which send buffer the bytes are in. */
    Transmission from(boolean larger) {
        isFromLarger = larger;
        return this;
    }

    /** A mapping. */
    Transmission mapping(Mapping own, int index, long address, int key) {
        mapping = own;
        return fill(Content.MAPPING, 0, Mapping.BYTES, address, key)
                .word(Message.of(Message.MAPPING, index)).id(SEQUENCED, 0);
    }

    /** Credits with a range. */
    Transmission range(RemoteRange own, int credits, long address, int key) {
        range = own;
        return fill(Content.RANGE, 0, RemoteRange.BYTES, address, key)
                .word(Message.of(Message.CREDITS, credits)).id(CONTROL, 0);
    }

    /** Credits alone, or a control message. */
    Transmission message(int value, boolean isLast) {
        return fill(Content.NOTHING, 0, 0, 0, 0).word(value).id(isLast ? LAST : CONTROL, 0);
    }

    /** A WRITE of nothing, which the peer's device acknowledges and its program does not see. */
    Transmission probe() {
        hasWord = false;
        return fill(Content.NOTHING, 0, 0, 0, 0).id(CONTROL, 0);
    }

    private Transmission fill(Content value, int at, int count, long address, int key) {
        content = value;
        offset = at;
        length = count;
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    private Transmission word(int value) {
        hasWord = true;
        word = value;
        return this;
    }

    private Transmission id(int kind, int bytes) {
        id = (long) kind << SHIFT | bytes;
        return this;
    }

    static boolean isSequenced(long id) {
        return id >>> SHIFT == SEQUENCED;
    }

    static boolean isLast(long id) {
        return id >>> SHIFT == LAST;
    }

    static int bytes(long id) {
        return (int) id;
    }
}
