// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.XrcDomainInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.spi.OwnedObjects;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A domain of extended reliable connections. */
final class NativeXrcDomain implements XrcDomain {
    private static final String OPEN = "open XRC domain";
    private static final String CLOSE = "close XRC domain";
    private static final int FD_AND_OFLAGS = 3;

    private final ContextServices services;
    private final long pointer;
    private final NativeFunction closing;
    private final Dependents dependents = new Dependents();
    private volatile boolean isClosed;

    private NativeXrcDomain(ContextServices services, DomainFile file) throws RdmaException {
        this.services = services;
        NativeFunction opening = services.functions().require(ContextOperation.OPEN_XRCD, OPEN);
        closing = services.functions().require(ContextOperation.CLOSE_XRCD, OPEN);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(XrcDomainInitAttr.SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, XrcDomainInitAttr.COMP_MASK, FD_AND_OFLAGS);
            Native.putInt(attributes, XrcDomainInitAttr.FD, file.descriptor());
            Native.putInt(attributes, XrcDomainInitAttr.OFLAGS, file.flags());
            pointer = opening.call(services.pointer(), attributes.address()).pointer(OPEN,
                    "the device refused: no process has the domain of the file open, which CREATE"
                            + " makes good, or one has it, which CREATE_NEW forbids");
        }
        services.dependents().add();
        services.owned().add(OwnedObjects.Kind.XRC_DOMAIN, this);
    }

    /** Opens one of this process alone, under the context's lock. */
    static NativeXrcDomain open(ContextServices services) throws RdmaException {
        services.queries().requireXrc(OPEN);
        return new NativeXrcDomain(services, DomainFile.none(services.system()));
    }

    /** Opens the domain of a file, under the context's lock. */
    static NativeXrcDomain open(ContextServices services, Path file, StandardOpenOption... options)
            throws RdmaException {
        services.queries().requireXrc(OPEN);
        try (DomainFile opened = DomainFile.open(services.system(), OPEN, file, options)) {
            return new NativeXrcDomain(services, opened);
        }
    }

    long pointer() {
        return pointer;
    }

    Dependents dependents() {
        return dependents;
    }

    ContextServices owner() {
        return services;
    }

    private void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("XRC domain");
        }
    }

    @Override
    public DeviceContext context() {
        return services.context();
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        services.lock();
        try {
            checkOpen();
            return XrcReceiveQueuePair.create(this, attributes);
        } finally {
            services.unlock();
        }
    }

    @Override
    public QueuePair openQueuePair(int number, @Nullable Object userContext)
            throws RdmaException {
        services.lock();
        try {
            checkOpen();
            return XrcReceiveQueuePair.open(this, number, userContext);
        } finally {
            services.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(CLOSE);
            closing.call(pointer).check(CLOSE, "objects made in it are alive");
            isClosed = true;
            services.owned().remove(OwnedObjects.Kind.XRC_DOMAIN, this);
            services.dependents().remove();
        } finally {
            services.unlock();
        }
    }

    /**
     * {@return an open domain of this context}
     *
     * @throws RdmaException EINVAL if it is null or of another context
     */
    static NativeXrcDomain own(@Nullable XrcDomain domain, ContextServices services,
            String operation) throws RdmaException {
        if (domain == null) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "a shared receive queue of type XRC needs an XRC domain");
        }
        if (domain instanceof NativeXrcDomain own && own.services.equals(services)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the XRC domain is of another device context");
    }

    @Override
    public String toString() {
        return "XRC domain on " + services.device().name();
    }
}
