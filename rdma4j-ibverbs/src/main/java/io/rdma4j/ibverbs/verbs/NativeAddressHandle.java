package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The path of datagrams. */
final class NativeAddressHandle implements AddressHandle {
    private static final String CREATE = "create address handle";

    private final NativeProtectionDomain domain;
    private final AddressHandleAttributes attributes;
    private final long pointer;
    private volatile boolean isClosed;

    /** Under the context's lock. */
    NativeAddressHandle(NativeProtectionDomain domain, AddressHandleAttributes attributes)
            throws RdmaException {
        this.domain = domain;
        this.attributes = attributes;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            Paths.write(path, 0, attributes);
            pointer = domain.owner().verbs().get(VerbsSymbol.CREATE_AH)
                    .call(domain.pointer(), path.address()).pointer(CREATE,
                            "the device refused the path: RoCE needs a global route, an entry of the"
                                    + " GID table that is in use, and a neighbour that answers");
        }
        domain.dependents().add();
    }

    long pointer() {
        return pointer;
    }

    NativeProtectionDomain owner() {
        return domain;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the address handle is closed");
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressHandleAttributes attributes() {
        return attributes;
    }

    @Override
    public void close() throws RdmaException {
        NativeContext context = domain.owner();
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            // A thread that is posting with it has the lock of its queue pair, and the driver copies the path.
            isClosed = true;
            context.verbs().get(VerbsSymbol.DESTROY_AH).call(pointer)
                    .check("close address handle", "the device could not free it");
            domain.dependents().remove();
        } finally {
            context.unlock();
        }
        context.onReleased();
    }
}
