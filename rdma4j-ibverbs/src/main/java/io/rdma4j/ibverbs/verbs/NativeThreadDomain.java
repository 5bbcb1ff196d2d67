// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.ThreadDomainInitAttr;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.spi.OwnedObjects;
import io.rdma4j.spi.ResourceText;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;

import java.lang.foreign.Arena;

/** A thread domain. */
final class NativeThreadDomain implements ThreadDomain {
    private final ContextServices services;
    private final long pointer;
    private final Dependents dependents = new Dependents();
    private volatile boolean isClosed;

    /** Under the context's lock. */
    NativeThreadDomain(ContextServices services) throws RdmaException {
        String operation = "allocate thread domain";
        this.services = services;
        NativeFunction function = services.functions().require(ContextOperation.ALLOC_TD,
                operation);
        try (Arena arena = Arena.ofConfined()) {
            pointer = function.call(services.pointer(),
                    arena.allocate(ThreadDomainInitAttr.SIZE, 8).address())
                    .pointer(operation, "the driver has no thread domains, or no room for another");
        }
        services.dependents().add();
        services.owned().add(OwnedObjects.Kind.THREAD_DOMAIN, this);
    }

    @Override
    public DeviceContext context() {
        return services.context();
    }

    long pointer() {
        return pointer;
    }

    ContextServices owner() {
        return services;
    }

    Dependents dependents() {
        return dependents;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("thread domain");
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close thread domain";
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(operation);
            services.functions().require(ContextOperation.DEALLOC_TD, operation).call(pointer)
                    .check(operation, "the device could not free it");
            isClosed = true;
            services.owned().remove(OwnedObjects.Kind.THREAD_DOMAIN, this);
            services.dependents().remove();
        } finally {
            services.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
