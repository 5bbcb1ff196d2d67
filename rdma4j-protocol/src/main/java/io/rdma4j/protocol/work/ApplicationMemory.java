package io.rdma4j.protocol.work;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Access to memory that is not ours and may be gone at any time: its arena was closed, or the file it maps
 * was truncated.
 *
 * <p>An access beyond the end of a mapped file is an {@link InternalError}, which compiled code does not throw
 * where it belongs but at the next point where the JVM looks for it, mostly in a caller. Each access here
 * therefore ends with such a point, if the memory is mapped: whoever made it hears of it, and nobody else.
 */
public final class ApplicationMemory {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    /** The smallest there are. */
    private static final long PAGE_BYTES = 4096;
    private static final Runtime RUNTIME = Runtime.getRuntime();

    private ApplicationMemory() {}

    /**
     * Copies bytes.
     *
     * @throws IllegalStateException if an arena was closed
     * @throws InternalError if a mapped file was truncated
     */
    public static void copy(MemorySegment source, long sourceOffset, MemorySegment target,
            long targetOffset, long length) {
        MemorySegment.copy(source, sourceOffset, target, targetOffset, length);
        if (source.isMapped() || target.isMapped()) {
            throwPending();
        }
    }

    /**
     * To be called after any other access.
     *
     * @param accessed the memory
     * @throws InternalError if the access was beyond the end of a mapped file
     */
    public static void settle(MemorySegment accessed) {
        if (accessed.isMapped()) {
            throwPending();
        }
    }

    /** The JVM throws what is pending when a native method returns; this one does nothing else. */
    private static void throwPending() {
        long _ = RUNTIME.maxMemory();
    }

    /** {@return whether any of it cannot be read any more} For who knows that an access has failed: it is slow. */
    public static boolean isGone(MemorySegment memory, long offset, long length) {
        if (!memory.scope().isAlive()) {
            return true;
        }
        if (!memory.isMapped()) {
            return false;
        }
        try {
            long end = offset + length;
            for (long at = offset; at < end; at = nextPage(memory, at)) {
                // Volatile, or the compiler would leave out a read that nobody uses.
                byte _ = (byte) BYTE.getVolatile(memory, at);
            }
            throwPending();
            return false;
        } catch (IllegalStateException | InternalError gone) {
            return true;
        }
    }

    private static long nextPage(MemorySegment memory, long at) {
        return at + PAGE_BYTES - (memory.address() + at & PAGE_BYTES - 1);
    }
}
