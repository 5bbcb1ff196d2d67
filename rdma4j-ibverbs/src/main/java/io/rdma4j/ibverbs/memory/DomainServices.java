// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** What the objects of a protection domain, or of a parent domain, need of it. It knows none of them but the regions by their keys. */
public final class DomainServices {
    private final ProtectionDomain domain;
    private final ContextServices owner;
    private final long pointer;
    private final @Nullable DomainServices root;
    private final boolean isOfOneThread;
    private final RegionTable regions;
    private final ChildCounts children;
    private volatile boolean isClosed;

    /** A protection domain of rdma4j's native devices, as they see those of others. */
    public interface Holder {
        /** {@return what its objects need of it} */
        DomainServices services();
    }

    /**
     * Of a protection domain.
     *
     * @param domain for its objects to answer with
     * @param pointer the address of its {@code ibv_pd}
     */
    public DomainServices(ProtectionDomain domain, ContextServices owner, long pointer) {
        this(domain, owner, pointer, null, false, new RegionTable());
    }

    /**
     * Of a parent domain, which shares the regions of its root.
     *
     * @param isOfOneThread whether it has a thread domain
     */
    public DomainServices(ProtectionDomain domain, DomainServices root, long pointer,
            boolean isOfOneThread) {
        this(domain, root.owner, pointer, root, isOfOneThread, root.regions);
    }

    private DomainServices(ProtectionDomain domain, ContextServices owner, long pointer,
            @Nullable DomainServices root, boolean isOfOneThread, RegionTable regions) {
        this.domain = domain;
        this.owner = owner;
        this.pointer = pointer;
        this.root = root;
        this.isOfOneThread = isOfOneThread;
        this.regions = regions;
        children = new ChildCounts(owner::onReleased);
    }

    /**
     * {@return those of a domain of a context}
     *
     * @throws RdmaException EINVAL if it is of another
     */
    public static DomainServices own(ProtectionDomain domain, ContextServices services,
            String operation)
            throws RdmaException {
        if (domain instanceof Holder holder && holder.services().owner.equals(services)) {
            return holder.services();
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the protection domain is of another device context");
    }

    /** {@return the domain, for objects to answer with} */
    public ProtectionDomain domain() {
        return domain;
    }

    public ContextServices owner() {
        return owner;
    }

    public long pointer() {
        return pointer;
    }

    /** {@return the protection domain if this is a parent domain, else null} */
    @Nullable
    public DomainServices root() {
        return root;
    }

    private DomainServices ownRoot() {
        return root == null ? this : root;
    }

    /**
     * {@return the address of the domain for a shared receive queue} Of a thread domain it would have no lock in the driver,
     * though it is posted to by one thread and polled for by another.
     */
    public long rootPointer() {
        return ownRoot().pointer;
    }

    /** {@return whether it shares its regions with another: one is the other, or the other's parent domain} */
    public boolean isOneWith(DomainServices other) {
        return ownRoot().equals(other.ownRoot());
    }

    /** {@return whether the driver takes no locks for objects of this domain, because they belong to one thread} */
    public boolean isOfOneThread() {
        return isOfOneThread;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("protection domain");
        }
    }

    public boolean isClosed() {
        return isClosed;
    }

    /** It was freed. Under the context's lock. */
    public void onClosed() {
        isClosed = true;
    }

    /** @throws RdmaException EINVAL if it is no parent domain */
    public void requireParent(String operation) throws RdmaException {
        checkOpen();
        if (root == null) {
            throw new RdmaException(Errno.EINVAL, operation, "it takes a parent domain, made by"
                    + " createParentDomain; this is a protection domain");
        }
    }

    /** {@return its regions by lkey} */
    public RegionTable regions() {
        return regions;
    }

    public ChildCounts children() {
        return children;
    }
}
