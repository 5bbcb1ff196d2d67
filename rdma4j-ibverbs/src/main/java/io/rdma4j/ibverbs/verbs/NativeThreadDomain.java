// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.ThreadDomainInitAttr;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.ContextChild;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;

import java.lang.foreign.Arena;

/** A thread domain. */
public final class NativeThreadDomain implements ThreadDomain {
    private final ContextChild made;

    /** Under the context's lock. */
    NativeThreadDomain(ContextServices services) throws RdmaException {
        String operation = "allocate thread domain";
        NativeFunction function = services.functions().require(ContextOperation.ALLOC_TD,
                operation);
        long pointer;
        try (Arena arena = Arena.ofConfined()) {
            pointer = function.call(services.pointer(),
                    arena.allocate(ThreadDomainInitAttr.SIZE, 8).address())
                    .pointer(operation, "the driver has no thread domains, or no room for another");
        }
        made = new ContextChild(services, ObjectKind.THREAD_DOMAIN, pointer, this);
    }

    @Override
    public DeviceContext context() {
        return made.owner().context();
    }

    public long pointer() {
        return made.pointer();
    }

    public ContextServices owner() {
        return made.owner();
    }

    public ChildCounts children() {
        return made.children();
    }

    public void checkOpen() throws RdmaException {
        made.checkOpen();
    }

    @Override
    public void close() throws RdmaException {
        made.close("close thread domain", ContextOperation.DEALLOC_TD);
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
