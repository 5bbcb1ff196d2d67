package io.rdma4j.protocol.queue;

import java.io.UncheckedIOException;
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

    /** Points nowhere, so that no memory is kept alive. */
    public void clear() {
        segment = MemorySegment.NULL;
        offset = 0;
    }

    /** {@return whether an eight-byte access is aligned} */
    public boolean isAligned() {
        return ((segment.address() + offset) & 7) == 0;
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
     * Writes eight aligned bytes so that no reader sees them in part, in the byte order of this machine.
     *
     * @return false if the memory is gone
     */
    public boolean writeAtomically(long value) {
        try {
            ATOMIC.setVolatile(segment, offset, value);
            return true;
        } catch (IllegalStateException | InternalError memoryGone) {
            return false;
        }
    }

    /**
     * Makes earlier writes visible to every observer, or persistent.
     *
     * @param length bytes from here
     * @param isPersistent whether mapped memory is written to its file
     * @return false if the memory is gone or cannot be written to its file
     */
    public boolean flush(long length, boolean isPersistent) {
        try {
            VarHandle.fullFence();
            if (isPersistent && segment.isMapped()) {
                segment.asSlice(offset, length).force();
            }
            return true;
        } catch (IllegalStateException | UncheckedIOException | InternalError memoryGone) {
            return false;
        }
    }

    /**
     * Exchanges eight aligned bytes if they hold an expected value, in the byte order of this machine.
     *
     * @return what they held
     * @throws IllegalStateException if the memory's arena was closed
     * @throws InternalError if the file it maps was cut short
     */
    public long compareAndSwap(long expected, long value) {
        return (long) ATOMIC.compareAndExchange(segment, offset, expected, value);
    }

    /** Adds to eight aligned bytes. {@return what they held} */
    public long fetchAndAdd(long value) {
        return (long) ATOMIC.getAndAdd(segment, offset, value);
    }
}
