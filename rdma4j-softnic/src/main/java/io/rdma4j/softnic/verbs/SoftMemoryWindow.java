// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.softnic.memory.Window;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

/** A memory window. Binding and invalidating are work of a queue pair and happen in its order. */
final class SoftMemoryWindow implements MemoryWindow {
    private final SoftDomainServices domain;
    private final MemoryWindowType type;
    private final Window window;
    private boolean isClosed;

    /** For the engine's owner. */
    SoftMemoryWindow(SoftDomainServices domain, MemoryWindowType type) {
        this.domain = domain;
        this.type = type;
        window = domain.nic().memory().newWindow(this, domain.root(), type);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    SoftDomainServices owner() {
        return domain;
    }

    @Override
    public MemoryWindowType type() {
        return type;
    }

    @Override
    public int rkey() {
        return window.rkey();
    }

    /** {@return its key and the range that it is bound to} */
    Window window() {
        return window;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("memory window");
        }
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().run(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                domain.nic().memory().remove(window);
                domain.remove(ObjectKind.MEMORY_WINDOW, ObjectKind.MEMORY_WINDOW, this);
            }
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
