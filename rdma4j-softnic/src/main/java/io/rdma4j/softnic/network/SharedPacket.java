package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

/**
 * A packet that another process has written into shared memory. Reusable; valid only during the call of its receiver.
 *
 * <p>The headers are a private copy. The payload is not: the other process may change it while it is read.
 */
public final class SharedPacket {
    private Gid source = Gid.ZERO;
    private Gid local = Gid.ZERO;
    private final MemorySegment header;
    private int headerLength;
    private MemorySegment payload = MemorySegment.NULL;
    private long payloadStart;
    private int payloadLength;
    private int span;

    /** @param header the memory for the copy of the headers */
    public SharedPacket(MemorySegment header) {
        this.header = header;
    }

    /** Sets the contents, after the headers were copied. */
    public SharedPacket fill(int newHeaderLength, MemorySegment newPayload, long newPayloadStart,
            int newPayloadLength, int newSpan) {
        headerLength = newHeaderLength;
        payload = newPayload;
        payloadStart = newPayloadStart;
        payloadLength = newPayloadLength;
        span = newSpan;
        return this;
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

    /** {@return the memory that the headers start in, at 0} */
    public MemorySegment header() {
        return header;
    }

    /** {@return bytes of the headers} */
    public int headerLength() {
        return headerLength;
    }

    /** {@return the memory that the payload is in} */
    public MemorySegment payload() {
        return payload;
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
