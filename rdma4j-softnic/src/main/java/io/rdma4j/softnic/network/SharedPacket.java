package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

/**
 * A packet that another process has written into shared memory. Reusable; valid only during the call of its receiver.
 *
 * <p>The other process may change it while it is read, so each field must be read once.
 */
public final class SharedPacket {
    private Gid source = Gid.ZERO;
    private Gid local = Gid.ZERO;
    private MemorySegment memory = MemorySegment.NULL;
    private long headerStart;
    private int headerLength;
    private long payloadStart;
    private int payloadLength;
    private int span;
    private boolean hasPiggyback;
    private long piggyback;

    /** Creates a packet that is to be filled. */
    public SharedPacket() {}

    /** Sets the contents. */
    public SharedPacket fill(MemorySegment newMemory, long newHeaderStart, int newHeaderLength,
            long newPayloadStart, int newPayloadLength, int newSpan) {
        memory = newMemory;
        headerStart = newHeaderStart;
        headerLength = newHeaderLength;
        payloadStart = newPayloadStart;
        payloadLength = newPayloadLength;
        span = newSpan;
        return this;
    }

    /** Sets the acknowledgement that it carries, if any. */
    public void piggyback(boolean isThere, long acknowledgement) {
        hasPiggyback = isThere;
        piggyback = acknowledgement;
    }

    /** {@return whether it carries an acknowledgement} */
    public boolean hasPiggyback() {
        return hasPiggyback;
    }

    /** {@return the acknowledgement that it carries, in the form of {@link io.rdma4j.protocol.roce.wire.Piggyback}} */
    public long piggyback() {
        return piggyback;
    }

    /** Sets source and destination, which also apply to later packets until the next call. */
    public void travelled(Gid from, Gid to) {
        source = from;
        local = to;
    }

    /** {@return its source address, as its sender wrote it} */
    public Gid source() {
        return source;
    }

    /** {@return its destination address, as its sender wrote it} */
    public Gid local() {
        return local;
    }

    /** {@return the memory that headers and payload are in} */
    public MemorySegment memory() {
        return memory;
    }

    /** {@return the offset at which the headers start} */
    public long headerStart() {
        return headerStart;
    }

    /** {@return bytes of the headers, those of the shortest at least} */
    public int headerLength() {
        return headerLength;
    }

    /** {@return the offset at which the payload starts} */
    public long payloadStart() {
        return payloadStart;
    }

    /** {@return the bytes of the payload, without padding} */
    public int payloadLength() {
        return payloadLength;
    }

    /** {@return how many packets of a message it represents} */
    public int span() {
        return span;
    }
}
