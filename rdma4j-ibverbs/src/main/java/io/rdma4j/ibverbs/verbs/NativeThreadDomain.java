// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.ThreadDomainInitAttr;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.spi.ResourceText;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;

import java.lang.foreign.Arena;

/** A thread domain. */
final class NativeThreadDomain implements ThreadDomain {
    private final NativeContext context;
    private final long pointer;
    private final Dependents dependents = new Dependents();
    private volatile boolean isClosed;

    /** Under the context's lock. */
    NativeThreadDomain(NativeContext context) throws RdmaException {
        String operation = "allocate thread domain";
        this.context = context;
        NativeFunction function = context.functions().require(ContextOperation.ALLOC_TD, operation);
        try (Arena arena = Arena.ofConfined()) {
            pointer = function.call(context.pointer(),
                    arena.allocate(ThreadDomainInitAttr.SIZE, 8).address())
                    .pointer(operation, "the driver has no thread domains, or no room for another");
        }
        context.dependents().add();
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    long pointer() {
        return pointer;
    }

    NativeContext owner() {
        return context;
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
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(operation);
            context.functions().require(ContextOperation.DEALLOC_TD, operation).call(pointer)
                    .check(operation, "the device could not free it");
            isClosed = true;
            context.dependents().remove();
        } finally {
            context.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
