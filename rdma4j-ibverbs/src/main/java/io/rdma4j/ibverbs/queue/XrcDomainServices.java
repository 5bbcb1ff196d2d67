// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

/** What the objects of an XRC domain need of it. It knows none of them. */
public final class XrcDomainServices {
    private final XrcDomain domain;
    private final ContextServices owner;
    private final long pointer;
    private final ChildCounts children = new ChildCounts();
    private volatile boolean isClosed;

    /** An XRC domain of rdma4j's native devices, as its objects see it. */
    public interface Holder {
        /** {@return what its objects need of it} */
        XrcDomainServices services();
    }

    /**
     * @param domain for its objects to answer with; only passed on
     * @param pointer the address of its {@code ibv_xrcd}
     */
    public XrcDomainServices(XrcDomain domain, ContextServices owner, long pointer) {
        this.domain = domain;
        this.owner = owner;
        this.pointer = pointer;
    }

    /**
     * {@return those of an open domain of a context}
     *
     * @throws RdmaException EINVAL if it is null or of another context
     */
    public static XrcDomainServices own(@Nullable XrcDomain domain, ContextServices owner,
            String operation) throws RdmaException {
        if (domain == null) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "a shared receive queue of type XRC needs an XRC domain");
        }
        if (domain instanceof Holder holder && holder.services().owner.equals(owner)) {
            holder.services().checkOpen();
            return holder.services();
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the XRC domain is of another device context");
    }

    /** {@return the domain, for objects to answer with} */
    public XrcDomain domain() {
        return domain;
    }

    /** {@return what it needs of its context} */
    public ContextServices owner() {
        return owner;
    }

    public long pointer() {
        return pointer;
    }

    /** {@return the counts of objects that must be closed before it} */
    public ChildCounts children() {
        return children;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("XRC domain");
        }
    }

    public boolean isClosed() {
        return isClosed;
    }

    /** It was freed. Under the context's lock. */
    public void onClosed() {
        isClosed = true;
    }
}
