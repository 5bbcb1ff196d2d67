// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Accesses to memory of the application, which may disappear at any time: its arena may be closed, or its mapped
 * file truncated.
 *
 * <p>An access beyond the end of a mapped file is an {@link InternalError}, which compiled code does not throw at
 * the access but at the next point where the JVM checks for it, mostly in a caller. So each access here ends with
 * such a point if the memory is mapped, and the error is thrown here and nowhere else.
 */
public final class ApplicationMemory {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    /** The smallest page size. */
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

    /** The JVM throws a pending error when a native method returns; this call has no other effect. */
    private static void throwPending() {
        long _ = RUNTIME.maxMemory();
    }

    /** {@return whether any of it cannot be read any more} Slow, so only for use after an access has failed. */
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
                // Volatile: otherwise the compiler would remove the unused read.
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
