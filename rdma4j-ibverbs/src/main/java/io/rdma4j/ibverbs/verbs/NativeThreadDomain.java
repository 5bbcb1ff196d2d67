// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.ThreadDomainInitAttr;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;

import java.lang.foreign.Arena;

/** A thread domain. */
public final class NativeThreadDomain implements ThreadDomain {
    private final ContextServices services;
    private final long pointer;
    private final ChildCounts children = new ChildCounts();
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
        services.children().add(ObjectKind.THREAD_DOMAIN);
        services.owned().add(ObjectKind.THREAD_DOMAIN, this);
    }

    @Override
    public DeviceContext context() {
        return services.context();
    }

    public long pointer() {
        return pointer;
    }

    public ContextServices owner() {
        return services;
    }

    public ChildCounts children() {
        return children;
    }

    public void checkOpen() throws RdmaException {
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
            children.requireNone(operation);
            services.functions().require(ContextOperation.DEALLOC_TD, operation).call(pointer)
                    .check(operation, "the device could not free it");
            isClosed = true;
            services.children().remove(ObjectKind.THREAD_DOMAIN);
            services.owned().remove(ObjectKind.THREAD_DOMAIN, this);
        } finally {
            services.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
