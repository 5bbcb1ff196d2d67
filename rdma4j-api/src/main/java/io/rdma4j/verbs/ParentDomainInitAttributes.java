// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a new parent domain adds to its protection domain.
 *
 * <p>C: {@code struct} {@index ibv_parent_domain_init_attr}. A mutable object of the caller; the device copies what it needs. A new one
 * adds nothing.
 *
 * @since 0.1.0
 */
public final class ParentDomainInitAttributes {
    private @Nullable ThreadDomain threadDomain;
    private @Nullable BufferAllocator allocator;

    /** Creates the default. */
    public ParentDomainInitAttributes() {}

    /** {@return the thread domain, or null} C: {@index td of struct ibv_parent_domain_init_attr}. */
    public @Nullable ThreadDomain threadDomain() {
        return threadDomain;
    }

    /** Makes one thread at a time use what is created in the domain ({@code td}). */
    public ParentDomainInitAttributes threadDomain(@Nullable ThreadDomain value) {
        threadDomain = value;
        return this;
    }

    /** {@return what allocates the native memory of queues; null for the device itself} C: {@code alloc}, {@code free}. */
    @Experimental
    public @Nullable BufferAllocator allocator() {
        return allocator;
    }

    /** Allocates the native memory of queues ({@code alloc}, {@code free}); native devices take none. */
    @Experimental
    public ParentDomainInitAttributes allocator(@Nullable BufferAllocator value) {
        allocator = value;
        return this;
    }

    @Override
    public String toString() {
        return "parent domain of " + (threadDomain == null ? "many threads" : threadDomain)
                + (allocator == null ? "" : ", with an allocator");
    }
}
