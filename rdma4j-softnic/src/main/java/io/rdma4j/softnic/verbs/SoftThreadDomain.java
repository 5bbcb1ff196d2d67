// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;

/** A thread domain. It changes nothing on this device, whose locks cost almost nothing without contention. */
final class SoftThreadDomain implements ThreadDomain {
    private final SoftContextServices context;
    private final ChildCounts children = new ChildCounts();
    private boolean isClosed;

    SoftThreadDomain(SoftContextServices context) {
        this.context = context;
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    ChildCounts children() {
        return children;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("thread domain");
        }
    }

    @Override
    public void close() throws RdmaException {
        context.nic().driver().call(nowNs -> {
            if (!isClosed) {
                children.requireNone("close thread domain");
                isClosed = true;
                context.owned().remove(ObjectKind.THREAD_DOMAIN, this);
                context.children().remove(ObjectKind.THREAD_DOMAIN);
            }
            return this;
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
