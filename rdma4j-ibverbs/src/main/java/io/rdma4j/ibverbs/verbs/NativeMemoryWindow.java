package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** A memory window. */
final class NativeMemoryWindow implements MemoryWindow {
    private final NativeProtectionDomain domain;
    private final MemoryWindowType type;
    private final long pointer;
    private @Nullable NativeMemoryRegion boundTo;
    private volatile int rkey;
    private volatile boolean isClosed;

    /** Under the context's lock. */
    NativeMemoryWindow(NativeProtectionDomain domain, MemoryWindowType type)
            throws RdmaException {
        String operation = "allocate memory window";
        this.domain = domain;
        this.type = type;
        pointer = domain.owner().functions().require(ContextOperation.ALLOC_MW, operation)
                .call(domain.pointer(), type.code()).pointer(operation,
                        "the device refused a window of " + type
                                + "; ibv_devinfo -v shows which it has, and its max_mw");
        readKey();
        domain.dependents().add();
    }

    private void readKey() {
        rkey = Native.getInt(Native.at(pointer, Layout.MemoryWindow.SIZE),
                Layout.MemoryWindow.RKEY);
    }

    long pointer() {
        return pointer;
    }

    NativeProtectionDomain owner() {
        return domain;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the memory window is closed");
        }
    }

    /** It has been, or is about to be, bound: the region cannot be closed before. Under the context's lock. */
    void bind(@Nullable NativeMemoryRegion region, int newRkey) {
        if (boundTo != null) {
            boundTo.dependents().remove();
        }
        boundTo = region;
        if (region != null) {
            region.dependents().add();
        }
        rkey = newRkey;
    }

    /** The library has given it another key. */
    void keyChanged(@Nullable NativeMemoryRegion region) {
        readKey();
        bind(region, rkey);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemoryWindowType type() {
        return type;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close memory window";
        NativeContext context = domain.owner();
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            context.functions().require(ContextOperation.DEALLOC_MW, operation).call(pointer)
                    .check(operation, "the device could not free it");
            isClosed = true;
            bind(null, rkey);
            domain.dependents().remove();
        } finally {
            context.unlock();
        }
        context.onReleased();
    }
}
