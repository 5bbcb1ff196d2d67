// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.PostRules;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.BoundWindow;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** A memory window. */
public final class NativeMemoryWindow implements MemoryWindow, BoundWindow {
    private final DomainServices domain;
    private final MemoryWindowType type;
    private final long pointer;
    private final UseCount users = new UseCount();
    private @Nullable NativeMemoryRegion boundTo;
    /** The queue that is posting requests that bind it; null if there is none. */
    private @Nullable Object posting;
    private int staged;
    private volatile int rkey;
    private volatile boolean isClosed;
    /** The library's object was freed before this one is closed. */
    private volatile boolean isEnded;

    /** Under the context's lock. */
    public NativeMemoryWindow(DomainServices domain, MemoryWindowType type)
            throws RdmaException {
        String operation = "allocate memory window";
        this.domain = domain;
        this.type = type;
        pointer = domain.owner().functions().require(ContextOperation.ALLOC_MW, operation)
                .call(domain.pointer(), type.code()).pointer(operation,
                        "the device refused a window of " + type
                                + "; ibv_devinfo -v shows which it has, and its max_mw");
        readKey();
        domain.children().add(ObjectKind.MEMORY_WINDOW);
        domain.owner().owned().add(ObjectKind.MEMORY_WINDOW, this);
        domain.owner().windows().add(this);
    }

    private void readKey() {
        rkey = Native.getInt(Native.at(pointer, Layout.MemoryWindow.SIZE),
                Layout.MemoryWindow.RKEY);
    }

    public long pointer() {
        return pointer;
    }

    public DomainServices owner() {
        return domain;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed || isEnded) {
            throw new RdmaClosedException("use memory window", isClosed
                    ? "the memory window is closed"
                    : "the arena of the memory that the window was bound to is closed, which ended"
                            + " the window");
        }
    }

    /**
     * A request of a queue is about to bind it; {@link #endUse} must follow. Under the context's lock.
     *
     * @throws RdmaException EBUSY if another queue is posting such a request
     */
    public void beginUse(Object queue) throws RdmaException {
        checkOpen();
        if (posting != null && !posting.equals(queue)) {
            throw new RdmaException(Errno.EBUSY, PostRules.SEND,
                    "another queue pair is being posted a request that binds the memory window");
        }
        if (!users.begin()) {
            throw RdmaClosedException.of("memory window");
        }
        posting = queue;
        staged++;
    }

    /** Such a request was posted or refused. Under the context's lock. */
    public void endUse() {
        staged--;
        if (staged == 0) {
            posting = null;
        }
        users.end();
    }

    /** {@return the region that it is bound to, or is about to be} Under the context's lock. */
    @Override
    public @Nullable NativeMemoryRegion boundTo() {
        return boundTo;
    }

    /** Sets the region that it is bound to, and its key. The region counts it. Under the context's lock. */
    public void put(@Nullable NativeMemoryRegion region, int newRkey) {
        boundTo = region;
        rkey = newRkey;
    }

    /** The library has bound it to a region, or to none, and given it another key. Under the context's lock. */
    public void keyChanged(@Nullable NativeMemoryRegion region) {
        unbind();
        boundTo = region;
        if (region != null) {
            region.children().add(ObjectKind.MEMORY_WINDOW);
        }
        readKey();
    }

    private void unbind() {
        if (boundTo != null) {
            boundTo.children().remove(ObjectKind.MEMORY_WINDOW);
            boundTo = null;
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    @Override
    public MemoryWindowType type() {
        return type;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    /** The arena of the memory that it is bound to is closed. If it cannot be freed now it is as before. Under the context's lock. */
    @Override
    public void endAccess() {
        NativeFunction free = domain.owner().functions().find(ContextOperation.DEALLOC_MW);
        if (free == null || !users.closeIfUnused()) {
            return;
        }
        isEnded = free.call(pointer).value() == 0;
        if (isEnded) {
            unbind();
        } else {
            users.reopen();
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close memory window";
        ContextServices services = domain.owner();
        users.awaitPosted();
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            users.close(operation);
            if (!isEnded) {
                services.functions().require(ContextOperation.DEALLOC_MW, operation).call(pointer)
                        .check(operation, "the device could not free it");
            }
            isClosed = true;
            services.windows().remove(this);
            unbind();
            domain.children().remove(ObjectKind.MEMORY_WINDOW);
            domain.owner().owned().remove(ObjectKind.MEMORY_WINDOW, this);
        } finally {
            if (!isClosed) {
                users.reopen();
            }
            services.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
