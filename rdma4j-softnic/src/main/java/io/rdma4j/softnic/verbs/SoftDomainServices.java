// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** What the objects of a protection domain, or of a parent domain, need of it. It knows none of them. */
final class SoftDomainServices {
    private final ProtectionDomain domain;
    private final SoftContextServices owner;
    private final SoftDomainServices root;
    private final @Nullable BufferAllocator allocator;
    private final ChildCounts children;
    private volatile boolean isClosed;

    /** A domain of a software device, as it is seen from others. */
    interface Holder {
        /** {@return what its objects need of it} */
        SoftDomainServices services();
    }

    /**
     * Of a protection domain.
     *
     * @param domain for its objects to answer with; only passed on
     */
    SoftDomainServices(ProtectionDomain domain, SoftContextServices owner) {
        this.domain = domain;
        this.owner = owner;
        root = this;
        allocator = null;
        children = new ChildCounts(owner::onReleased);
    }

    /**
     * Of a parent domain, which shares the regions of another domain.
     *
     * @param domain for its objects to answer with; only passed on
     * @param allocator gives memory for queues; null if they have their own
     */
    SoftDomainServices(ProtectionDomain domain, SoftDomainServices shared,
            @Nullable BufferAllocator allocator) {
        this.domain = domain;
        owner = shared.owner;
        root = shared.root;
        this.allocator = allocator;
        children = new ChildCounts(owner::onReleased);
    }

    /**
     * {@return those of a domain of a context}
     *
     * @throws RdmaException EINVAL if it is of another
     */
    static SoftDomainServices own(ProtectionDomain domain, SoftContextServices context,
            String operation) throws RdmaException {
        if (domain instanceof Holder holder && holder.services().owner.equals(context)) {
            return holder.services();
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the protection domain is of another device context");
    }

    /** {@return the domain, for objects to answer with} */
    ProtectionDomain domain() {
        return domain;
    }

    /** {@return what it needs of its context} */
    SoftContextServices owner() {
        return owner;
    }

    NicServices nic() {
        return owner.nic();
    }

    /** {@return the domain whose regions this one shares, or itself} */
    SoftDomainServices root() {
        return root;
    }

    /** {@return its memory as a queue pair sees it, for the threads of the application} */
    DomainMemory memoryOf(int queuePair) {
        return new DomainMemory(nic().memory(), root, queuePair, () -> {});
    }

    /** {@return its memory as a queue pair sees it, for the engine's owner} */
    DomainMemory engineMemoryOf(int queuePair) {
        return new DomainMemory(nic().memory(), root, queuePair,
                nic().driver().engine()::protectOwner);
    }

    /** {@return native memory for a queue, null if there is no allocator or it provides none} */
    @Nullable
    QueueMemory allocate(long byteSize) {
        return allocator == null ? null : QueueMemory.allocate(domain, allocator, byteSize);
    }

    // ---------------------------------------------------------------- what must be closed before it

    ChildCounts children() {
        return children;
    }

    /** One more object of a kind that the device counts, and that its context owns. For the engine's owner. */
    void add(ObjectKind kind, ObjectKind owned, AutoCloseable object) {
        nic().objects().totals().add(kind);
        children.add(kind);
        owner.owned().add(owned, object);
    }

    /** One less. For the engine's owner. */
    void remove(ObjectKind kind, ObjectKind owned, AutoCloseable object) {
        owner.owned().remove(owned, object);
        children.remove(kind);
        nic().objects().totals().remove(kind);
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("protection domain");
        }
    }

    /**
     * Marks it as closed. For the engine's owner.
     *
     * @return false if it was
     * @throws RdmaException EBUSY if objects depend on it
     */
    boolean beginClose(String operation) throws RdmaException {
        if (isClosed) {
            return false;
        }
        children.requireNone(operation);
        isClosed = true;
        return true;
    }
}
