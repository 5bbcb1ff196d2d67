// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import java.lang.foreign.MemorySegment;

/**
 * Copies from memory of the application, which may be a mapped file that is cut short meanwhile.
 *
 * <p>Such an access is an {@link InternalError}, which compiled code does not throw at the access but where the JVM checks for
 * it next, mostly in a caller: it could be the call that posts. So a copy of mapped memory ends with such a point.
 */
public final class MappedMemory {
    private static final Runtime RUNTIME = Runtime.getRuntime();

    private MappedMemory() {}

    /**
     * Copies bytes.
     *
     * @throws InternalError if the file is shorter now
     */
    public static void copy(MemorySegment source, long sourceOffset, MemorySegment target,
            long targetOffset, long length) {
        MemorySegment.copy(source, sourceOffset, target, targetOffset, length);
        if (source.isMapped() || target.isMapped()) {
            // The JVM throws a pending error when a native method returns; this call has no other effect.
            long _ = RUNTIME.maxMemory();
        }
    }
}
