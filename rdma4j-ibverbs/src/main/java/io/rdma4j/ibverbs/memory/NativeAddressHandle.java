// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The path of datagrams. */
public final class NativeAddressHandle implements AddressHandle, StagedUse {
    private static final String CREATE = "create address handle";
    private static final String OF_IWARP = "iWARP has no datagrams, and so no address handles";
    private static final String OF_ROCE = "the device refused the path: RoCE needs a global route, an"
            + " entry of the GID table that is in use, and a neighbour that answers";

    private final DomainServices domain;
    private final AddressHandleAttributes attributes;
    private final long pointer;
    private final UseCount users = new UseCount();
    private volatile boolean isClosed;

    /** Under the context's lock. */
    public NativeAddressHandle(DomainServices domain, AddressHandleAttributes attributes)
            throws RdmaException {
        this.domain = domain;
        this.attributes = attributes;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            Paths.write(path, 0, attributes);
            pointer = domain.owner().verbs().get(VerbsSymbol.CREATE_AH)
                    .call(domain.pointer(), path.address())
                    .pointer(CREATE, domain.owner().isIwarp() ? OF_IWARP : OF_ROCE);
        }
        domain.children().add(ObjectKind.ADDRESS_HANDLE);
        domain.owner().owned().add(ObjectKind.ADDRESS_HANDLE, this);
    }

    public long pointer() {
        return pointer;
    }

    public DomainServices owner() {
        return domain;
    }

    /** A request is about to use it; {@link #end} must follow. */
    public void beginUse() throws RdmaException {
        if (!users.begin()) {
            throw RdmaClosedException.of("address handle");
        }
    }

    @Override
    public void end(boolean isPosted) {
        users.end();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    @Override
    public AddressHandleAttributes attributes() {
        return attributes;
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close address handle";
        ContextServices services = domain.owner();
        // The driver reads the path as a request is posted, and not later.
        users.awaitPosted();
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            users.close(operation);
            isClosed = true;
            services.verbs().get(VerbsSymbol.DESTROY_AH).call(pointer)
                    .check(operation, "the device could not free it");
            domain.children().remove(ObjectKind.ADDRESS_HANDLE);
            domain.owner().owned().remove(ObjectKind.ADDRESS_HANDLE, this);
        } finally {
            services.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
