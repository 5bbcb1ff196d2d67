package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

/**
 * A packet that another process has written into memory that both have mapped. Reusable; valid while its receiver is called.
 *
 * <p>The headers are a copy that nobody else can change. The payload is not: its bytes may change while they are read.
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

    /** @param header where the headers are copied to */
    public SharedPacket(MemorySegment header) {
        this.header = header;
    }

    /** Says what it is, once its headers are copied. */
    public SharedPacket fill(int newHeaderLength, MemorySegment newPayload, long newPayloadStart,
            int newPayloadLength, int newSpan) {
        headerLength = newHeaderLength;
        payload = newPayload;
        payloadStart = newPayloadStart;
        payloadLength = newPayloadLength;
        span = newSpan;
        return this;
    }

    /** Says where it came from and went to, as those after it until something else is said. */
    public void travelled(Gid from, Gid to) {
        source = from;
        local = to;
    }

    /** {@return the address it came from, as its sender says} */
    public Gid source() {
        return source;
    }

    /** {@return the address it went to, as its sender says} */
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

    /** {@return where the payload starts in it} */
    public long payloadStart() {
        return payloadStart;
    }

    /** {@return the bytes of the payload, without padding} */
    public int payloadLength() {
        return payloadLength;
    }

    /** {@return how many packets of a message it stands for} */
    public int span() {
        return span;
    }
}
