// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** A place in registered memory that an access check allowed. Reusable. */
public final class MemoryReference {
    private static final VarHandle ATOMIC = ValueLayout.JAVA_LONG.varHandle();

    private MemorySegment segment = MemorySegment.NULL;
    private long offset;
    private @Nullable Registration registration;

    /** Creates a reference to nothing. */
    public MemoryReference() {}

    /** Points somewhere. */
    public void point(MemorySegment newSegment, long newOffset) {
        segment = newSegment;
        offset = newOffset;
        registration = null;
    }

    /** Points somewhere in the memory of a registration. */
    public void point(MemorySegment newSegment, long newOffset, Registration allowing) {
        segment = newSegment;
        offset = newOffset;
        registration = allowing;
    }

    /** Points nowhere, so that no memory is kept alive. */
    public void clear() {
        segment = MemorySegment.NULL;
        offset = 0;
        registration = null;
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

    /** {@return what has allowed the access, null if that does not matter} */
    public @Nullable Registration registration() {
        return registration;
    }

    /**
     * Copies bytes here. What was written before is visible to whoever sees these bytes, and acquires them: programs poll
     * the memory for a WRITE that follows another.
     */
    public CopyOutcome write(MemorySegment source, long sourceOffset, long length) {
        VarHandle.releaseFence();
        try {
            ApplicationMemory.copy(source, sourceOffset, segment, offset, length);
            return CopyOutcome.DONE;
        } catch (IllegalStateException | InternalError memoryGone) {
            return ApplicationMemory.isGone(source, sourceOffset, length)
                    ? CopyOutcome.SOURCE_GONE
                    : CopyOutcome.TARGET_REFUSED;
        }
    }

    /** Copies eight bytes here, which is aligned, so that no reader sees them in part. */
    public CopyOutcome writeAtomically(MemorySegment source, long sourceOffset) {
        long value;
        try {
            value = source.get(ValueLayout.JAVA_LONG_UNALIGNED, sourceOffset);
            ApplicationMemory.settle(source);
        } catch (IllegalStateException | InternalError memoryGone) {
            return CopyOutcome.SOURCE_GONE;
        }
        try {
            ATOMIC.setVolatile(segment, offset, value);
            ApplicationMemory.settle(segment);
            return CopyOutcome.DONE;
        } catch (IllegalStateException | InternalError memoryGone) {
            return CopyOutcome.TARGET_REFUSED;
        }
    }

    /**
     * Exchanges eight aligned bytes if they hold an expected value, in the byte order of this machine.
     *
     * @return what they held
     * @throws IllegalStateException if the memory's arena was closed
     * @throws InternalError if the file it maps was truncated
     */
    public long compareAndSwap(long expected, long value) {
        requirePresent();
        long original = (long) ATOMIC.compareAndExchange(segment, offset, expected, value);
        ApplicationMemory.settle(segment);
        return original;
    }

    /** {@return what eight aligned bytes held before this added to them} Otherwise as {@link #compareAndSwap}. */
    public long fetchAndAdd(long value) {
        requirePresent();
        long original = (long) ATOMIC.getAndAdd(segment, offset, value);
        ApplicationMemory.settle(segment);
        return original;
    }

    /**
     * Where code is not compiled yet, an exchange beyond the end of a mapped file ends the JVM, which takes care of reads and
     * writes alone. So it is read first.
     */
    private void requirePresent() {
        if (segment.isMapped()) {
            long _ = (long) ATOMIC.getVolatile(segment, offset);
            ApplicationMemory.settle(segment);
        }
    }
}
