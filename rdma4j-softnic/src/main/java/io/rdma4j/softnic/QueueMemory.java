package io.rdma4j.softnic;

import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory of a queue, and whom it goes back to.
 *
 * @param memory the memory
 * @param domain the domain it was allocated for
 * @param giver the allocator that gave it, null if the device did
 */
record QueueMemory(MemorySegment memory, SoftProtectionDomain domain,
        @Nullable BufferAllocator giver) {
    private static final int ALIGNMENT = 64;

    /** {@return memory from an allocator, if there is one and it gives some} */
    static QueueMemory allocate(SoftProtectionDomain domain, @Nullable BufferAllocator allocator,
            long byteSize) {
        MemorySegment given = allocator == null
                ? null
                : allocator.allocate(domain, byteSize, ALIGNMENT);
        if (given == null) {
            return new QueueMemory(Arena.ofAuto().allocate(byteSize, ALIGNMENT), domain, null);
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
        if (giver != null) {
            giver.free(domain, memory);
        }
    }
}
