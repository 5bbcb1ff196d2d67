// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.xrc;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.XrcDomainInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.queue.XrcDomainServices;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A domain of extended reliable connections. */
public final class NativeXrcDomain implements XrcDomain, XrcDomainServices.Holder {
    private static final String OPEN = "open XRC domain";
    private static final String CLOSE = "close XRC domain";
    private static final int FD_AND_OFLAGS = 3;

    private final ContextServices context;
    private final XrcDomainServices services;
    private final NativeFunction closing;

    private NativeXrcDomain(ContextServices context, DomainFile file) throws RdmaException {
        this.context = context;
        NativeFunction opening = context.functions().require(ContextOperation.OPEN_XRCD, OPEN);
        closing = context.functions().require(ContextOperation.CLOSE_XRCD, OPEN);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(XrcDomainInitAttr.SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, XrcDomainInitAttr.COMP_MASK, FD_AND_OFLAGS);
            Native.putInt(attributes, XrcDomainInitAttr.FD, file.descriptor());
            Native.putInt(attributes, XrcDomainInitAttr.OFLAGS, file.flags());
            services = new XrcDomainServices(this, context, opening.call(context.pointer(),
                    attributes.address()).pointer(OPEN,
                            "the device refused: no process has the domain of the file open,"
                                    + " which CREATE makes good, or one has it, which CREATE_NEW"
                                    + " forbids"));
        }
        context.children().add(ObjectKind.XRC_DOMAIN);
        context.owned().add(ObjectKind.XRC_DOMAIN, this);
    }

    /** Opens one of this process alone, under the context's lock. */
    public static NativeXrcDomain open(ContextServices services) throws RdmaException {
        services.queries().requireXrc(OPEN);
        return new NativeXrcDomain(services, DomainFile.none(services.system()));
    }

    /** Opens the domain of a file, under the context's lock. */
    public static NativeXrcDomain open(ContextServices services, Path file,
            StandardOpenOption... options)
            throws RdmaException {
        services.queries().requireXrc(OPEN);
        try (DomainFile opened = DomainFile.open(services.system(), OPEN, file, options)) {
            return new NativeXrcDomain(services, opened);
        }
    }

    @Override
    public XrcDomainServices services() {
        return services;
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        context.lock();
        try {
            services.checkOpen();
            return XrcReceiveQueuePair.create(services, attributes);
        } finally {
            context.unlock();
        }
    }

    @Override
    public QueuePair openQueuePair(int number, @Nullable Object userContext)
            throws RdmaException {
        context.lock();
        try {
            services.checkOpen();
            return XrcReceiveQueuePair.open(services, number, userContext);
        } finally {
            context.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        context.lock();
        try {
            if (services.isClosed()) {
                return;
            }
            services.children().requireNone(CLOSE);
            closing.call(services.pointer()).check(CLOSE, "objects made in it are alive");
            services.onClosed();
            context.owned().remove(ObjectKind.XRC_DOMAIN, this);
            context.children().remove(ObjectKind.XRC_DOMAIN);
        } finally {
            context.unlock();
        }
    }

    @Override
    public String toString() {
        return "XRC domain on " + context.device().name();
    }
}
