// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Native memory of a queue from the application's allocator.
 *
 * @param memory the memory
 * @param domain the domain that it was allocated for
 * @param giver the allocator, which gets it back
 */
record QueueMemory(MemorySegment memory, ProtectionDomain domain, BufferAllocator giver) {
    private static final int ALIGNMENT = 64;

    /** {@return memory from an allocator, null if it provides none; the queue then uses its own} */
    static @Nullable QueueMemory allocate(ProtectionDomain domain, BufferAllocator allocator,
            long byteSize) {
        MemorySegment given = allocator.allocate(domain, byteSize, ALIGNMENT);
        if (given == null) {
            return null;
        }
        try {
            MemoryChecks.check("allocate queue memory", given);
            if (given.isReadOnly() || given.byteSize() < byteSize) {
                throw new IllegalArgumentException("the allocator gave " + given + " where "
                        + byteSize + " writable bytes were asked for");
            }
        } catch (RdmaException unfit) {
            throw new IllegalArgumentException("the allocator gave memory that does not serve: "
                    + unfit.getMessage(), unfit);
        }
        return new QueueMemory(given, domain, allocator);
    }

    /** Gives it back. */
    void free() {
        giver.free(domain, memory);
    }
}
