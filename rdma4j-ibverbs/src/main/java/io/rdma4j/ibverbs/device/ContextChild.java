// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

/**
 * The library's object of what an open device makes for itself, in no protection domain. It is counted while it is open, and is
 * freed only when nothing depends on it.
 */
public final class ContextChild {
    private final ContextServices services;
    private final ObjectKind kind;
    private final long pointer;
    private final AutoCloseable object;
    private final ChildCounts children = new ChildCounts();
    private volatile boolean isClosed;

    /**
     * Counts what was made. Under the context's lock.
     *
     * @param pointer the library's
     * @param object the object for programs, which {@link #close} frees
     */
    public ContextChild(ContextServices services, ObjectKind kind, long pointer,
            AutoCloseable object) {
        this.services = services;
        this.kind = kind;
        this.pointer = pointer;
        this.object = object;
        services.children().add(kind);
        services.owned().add(kind, object);
    }

    public ContextServices owner() {
        return services;
    }

    public long pointer() {
        return pointer;
    }

    /** {@return what depends on it} */
    public ChildCounts children() {
        return children;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of(kind.text());
        }
    }

    /**
     * Frees it, if it is not freed.
     *
     * @throws RdmaException EBUSY if something depends on it; the library's error if that does not free it
     */
    public void close(String operation, ContextOperation free) throws RdmaException {
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            children.requireNone(operation);
            services.functions().require(free, operation).call(pointer)
                    .check(operation, "the device could not free it");
            isClosed = true;
            services.children().remove(kind);
            services.owned().remove(kind, object);
        } finally {
            services.unlock();
        }
    }
}
