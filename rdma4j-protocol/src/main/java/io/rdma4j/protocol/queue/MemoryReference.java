package io.rdma4j.protocol.queue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** A place in registered memory that an access check allowed. Reusable. */
public final class MemoryReference {
    private static final VarHandle ATOMIC = ValueLayout.JAVA_LONG.varHandle();

    private MemorySegment segment = MemorySegment.NULL;
    private long offset;

    /** Creates a reference to nothing. */
    public MemoryReference() {}

    /** Points somewhere. */
    public void point(MemorySegment newSegment, long newOffset) {
        segment = newSegment;
        offset = newOffset;
    }

    /** {@return the memory} */
    public MemorySegment segment() {
        return segment;
    }

    /** {@return the place in it} */
    public long offset() {
        return offset;
    }

    /**
     * Copies bytes here.
     *
     * @return false if the memory is gone: its arena was closed, or the file it maps was cut short
     */
    public boolean write(MemorySegment source, long sourceOffset, long length) {
        try {
            MemorySegment.copy(source, sourceOffset, segment, offset, length);
            return true;
        } catch (IllegalStateException | InternalError memoryGone) {
            return false;
        }
    }

    /**
     * Exchanges eight aligned bytes if they hold an expected value, in the byte order of this machine.
     *
     * @return what they held
     * @throws IllegalStateException if the memory's arena was closed
     */
    public long compareAndSwap(long expected, long value) {
        return (long) ATOMIC.compareAndExchange(segment, offset, expected, value);
    }

    /** Adds to eight aligned bytes. {@return what they held} */
    public long fetchAndAdd(long value) {
        return (long) ATOMIC.getAndAdd(segment, offset, value);
    }
}
