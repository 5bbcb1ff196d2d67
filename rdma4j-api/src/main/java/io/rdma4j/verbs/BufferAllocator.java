// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Allocates the native memory of queues for objects of a parent domain.
 *
 * <p>C: the {@index alloc of struct ibv_parent_domain_init_attr} and {@index free of struct ibv_parent_domain_init_attr}
 * members of {@code struct} {@index ibv_parent_domain_init_attr}. Called while an object is created or closed; must not
 * call the device.
 *
 * <p>Implemented by programs.
 *
 * @since 0.1.0
 */
@Experimental
public interface BufferAllocator {
    /**
     * {@return native memory of an arena that any thread may use, or null for the device's own}
     *
     * @param domain the parent domain
     * @param byteSize at least 1
     * @param byteAlignment a power of two
     */
    @Nullable
    MemorySegment allocate(ProtectionDomain domain, long byteSize, long byteAlignment);

    /**
     * Frees memory of {@link #allocate}; nothing uses it any more.
     *
     * @param domain the domain that has the allocator
     * @param memory what it has given
     */
    void free(ProtectionDomain domain, MemorySegment memory);
}
