// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.RegionMemory;
import io.rdma4j.device.RegionPlace;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.ParentDomainInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.memory.Elements;
import io.rdma4j.ibverbs.memory.NativeAddressHandle;
import io.rdma4j.ibverbs.memory.NativeDeviceMemory;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.NativeMemoryWindow;
import io.rdma4j.ibverbs.memory.RegionChecks;
import io.rdma4j.ibverbs.memory.RegionTable;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.ibverbs.queue.NativeSharedReceiveQueue;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A protection domain, or a parent domain, which shares the regions of another domain, its root, and whose queues belong to
 * one thread.
 */
final class NativeProtectionDomain implements ProtectionDomain, DomainServices.Holder {
    private static final String REGISTER = "register memory";
    private static final String CREATE_PARENT = "create parent domain";
    private static final String PINNED = "; registered memory is pinned and counts against ulimit -l"
            + " (LimitMEMLOCK, docker --ulimit memlock=-1)";

    private final ContextServices context;
    private final DomainServices services;
    private final long pointer;
    private final RegionTable regions;
    private final @Nullable NativeThreadDomain threadDomain;

    /** Under the context's lock. */
    NativeProtectionDomain(ContextServices context) throws RdmaException {
        this.context = context;
        threadDomain = null;
        pointer = context.verbs().get(VerbsSymbol.ALLOC_PD).call(context.pointer()).pointer(
                "allocate protection domain",
                "the device has no room for another; ibv_devinfo -v shows its max_pd");
        services = new DomainServices(this, context, pointer);
        regions = services.regions();
        context.owned().add(ObjectKind.PROTECTION_DOMAIN, this);
    }

    /** A parent domain. Under the context's lock. */
    private NativeProtectionDomain(DomainServices root, @Nullable NativeThreadDomain threadDomain)
            throws RdmaException {
        this.threadDomain = threadDomain;
        context = root.owner();
        NativeFunction function = context.functions().require(ContextOperation.ALLOC_PARENT_DOMAIN,
                CREATE_PARENT);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ParentDomainInitAttr.SIZE, 8);
            Native.putLong(attributes, ParentDomainInitAttr.PD, root.pointer());
            Native.putLong(attributes, ParentDomainInitAttr.TD,
                    threadDomain == null ? 0 : threadDomain.pointer());
            pointer = function.call(context.pointer(), attributes.address()).pointer(CREATE_PARENT,
                    "the device has no room for another; ibv_devinfo -v shows its max_pd");
        }
        services = new DomainServices(this, root, pointer, threadDomain != null);
        regions = services.regions();
        root.children().add(ObjectKind.PARENT_DOMAIN);
        context.owned().add(ObjectKind.PROTECTION_DOMAIN, this);
        if (threadDomain != null) {
            threadDomain.children().add(ObjectKind.PARENT_DOMAIN);
        }
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    @Override
    public DomainServices services() {
        return services;
    }

    private void checkOpen() throws RdmaException {
        services.checkOpen();
    }

    // ---------------------------------------------------------------- memory

    @Override
    public MemoryRegion register(MemorySegment segment, Set<AccessFlag> rights)
            throws RdmaException {
        Set<AccessFlag> access = Set.copyOf(rights);
        return register(segment, access.contains(AccessFlag.ZERO_BASED) ? 0 : segment.address(),
                access);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> rights)
            throws RdmaException {
        checkOpen();
        Set<AccessFlag> access = Set.copyOf(rights);
        RegionChecks.check(REGISTER, segment, access);
        context.queries().requireFlushing(REGISTER, access);
        context.lock();
        try {
            NativeMemoryRegion region = new NativeMemoryRegion(services, pin(segment, iova, access),
                    segment, iova, access);
            region.requireMemory(REGISTER);
            return region;
        } finally {
            context.unlock();
        }
    }

    @Override
    public MemoryRegion allocateRegion(long byteSize, Set<AccessFlag> rights)
            throws RdmaException {
        checkOpen();
        Set<AccessFlag> access = Set.copyOf(rights);
        Arena arena = Arena.ofShared();
        boolean isRegistered = false;
        try {
            MemorySegment segment = RegionMemory.allocate(arena, REGISTER, byteSize);
            RegionChecks.check(REGISTER, segment, access);
            context.queries().requireFlushing(REGISTER, access);
            context.lock();
            try {
                long iova = access.contains(AccessFlag.ZERO_BASED) ? 0 : segment.address();
                MemoryRegion region = new NativeMemoryRegion(services, pin(segment, iova, access),
                        segment, arena, iova, access);
                isRegistered = true;
                return region;
            } finally {
                context.unlock();
            }
        } finally {
            if (!isRegistered) {
                arena.close();
            }
        }
    }

    /** {@return the address of the {@code ibv_mr} of pinned memory} Under the context's lock. */
    private long pin(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException {
        checkOpen();
        String advice = "the device refused " + segment.byteSize() + " bytes with access " + access
                + PINNED;
        int bits = AccessFlag.bits(access);
        NativeFunction function = context.verbs().find(VerbsSymbol.REG_MR_IOVA2);
        if (function == null) {
            function = context.verbs().find(VerbsSymbol.REG_MR_IOVA);
        }
        return function == null
                ? registerAtOwnAddress(segment, iova, bits, advice)
                : function.call(pointer, segment.address(), segment.byteSize(), iova, bits)
                        .pointer(REGISTER, advice);
    }

    private long registerAtOwnAddress(MemorySegment segment, long iova, int bits, String advice)
            throws RdmaException {
        if (iova != segment.address()) {
            throw RdmaException.unsupported(REGISTER,
                    "this libibverbs cannot give a region another address; rdma-core 16 can");
        }
        return context.verbs().get(VerbsSymbol.REG_MR)
                .call(pointer, segment.address(), segment.byteSize(), bits)
                .pointer(REGISTER, advice);
    }

    @Override
    public MemoryRegion register(MemoryRegionInitAttributes wanted) throws RdmaException {
        checkOpen();
        MemoryRegionInitAttributes attributes = new MemoryRegionInitAttributes(wanted);
        return switch (RegionPlace.of(attributes)) {
            case SEGMENT -> registerSegment(attributes);
            case DEVICE_MEMORY -> registerInDevice(attributes);
            case DMA_BUF -> registerDmaBuf(attributes);
        };
    }

    private MemoryRegion registerSegment(MemoryRegionInitAttributes attributes)
            throws RdmaException {
        MemorySegment segment = Objects.requireNonNull(attributes.segment());
        Long iova = attributes.iova();
        return iova == null
                ? register(segment, attributes.access())
                : register(segment, iova, attributes.access());
    }

    private MemoryRegion registerInDevice(MemoryRegionInitAttributes attributes)
            throws RdmaException {
        if (!(attributes.deviceMemory() instanceof NativeDeviceMemory memory)
                || !memory.owner().equals(context)) {
            throw new RdmaException(Errno.EINVAL, REGISTER,
                    "the device memory is of another device context");
        }
        Set<AccessFlag> access = attributes.access();
        if (!access.contains(AccessFlag.ZERO_BASED) || attributes.iova() != null) {
            throw new RdmaException(Errno.EINVAL, REGISTER,
                    "device memory has no address: its regions are ZERO_BASED");
        }
        long offset = attributes.deviceOffset();
        long length = attributes.deviceLength();
        memory.checkStretch(REGISTER, offset, length);
        context.queries().requireFlushing(REGISTER, access);
        NativeFunction function = context.functions().require(ContextOperation.REG_DM_MR, REGISTER);
        context.lock();
        try {
            checkOpen();
            memory.checkOpen();
            long region = function
                    .call(pointer, memory.pointer(), offset, length, AccessFlag.bits(access))
                    .pointer(REGISTER, "the device refused " + length
                            + " bytes of device memory with access " + access);
            return new NativeMemoryRegion(services, region, memory, length, access);
        } finally {
            context.unlock();
        }
    }

    private MemoryRegion registerDmaBuf(MemoryRegionInitAttributes attributes)
            throws RdmaException {
        int fd = Objects.requireNonNull(attributes.dmaBuf());
        long offset = attributes.dmaBufOffset();
        long length = attributes.dmaBufLength();
        long iova = Objects.requireNonNullElse(attributes.iova(), offset);
        Set<AccessFlag> access = attributes.access();
        RegionChecks.checkDmaBuf(REGISTER, fd, offset, length, access);
        context.queries().requireFlushing(REGISTER, access);
        NativeFunction function = context.verbs().require(VerbsSymbol.REG_DMABUF_MR, REGISTER);
        context.lock();
        try {
            checkOpen();
            long region = function
                    .call(pointer, offset, length, iova, fd, AccessFlag.bits(access))
                    .pointer(REGISTER, "the device refused " + length + " bytes at " + offset
                            + " of the dma-buf with access " + access + "; address and offset are"
                            + " to be equally far into a page");
            return new NativeMemoryRegion(services, region, iova, length, access);
        } finally {
            context.unlock();
        }
    }

    @Override
    public MemoryRegion registerNull() throws RdmaException {
        context.lock();
        try {
            checkOpen();
            long region = context.functions().require(ContextOperation.ALLOC_NULL_MR, REGISTER)
                    .call(pointer).pointer(REGISTER, "the device refused a region of no memory");
            return new NativeMemoryRegion(services, region, MemorySegment.NULL, 0,
                    Set.of(AccessFlag.LOCAL_WRITE));
        } finally {
            context.unlock();
        }
    }

    @Override
    public void advise(MemoryAdvice advice, List<ScatterGatherElement> elements,
            AdviceFlag... flags) throws RdmaException {
        checkOpen();
        String operation = "advise memory";
        NativeFunction function = context.functions().require(ContextOperation.ADVISE_MR,
                operation);
        context.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            // Copied, because another thread may extend the list after the size was read.
            List<ScatterGatherElement> given = List.copyOf(elements);
            MemorySegment list = arena
                    .allocate(Math.max(1, given.size()) * Layout.Element.SIZE, 8);
            for (int i = 0; i < given.size(); i++) {
                ScatterGatherElement element = given.get(i);
                if (regions.find(element.lkey()) == null) {
                    throw new RdmaException(Errno.ENOENT, operation, String.format(
                            "0x%08x is the key of no region of this domain", element.lkey()));
                }
                Elements.write(list, i * Layout.Element.SIZE, element.address(),
                        element.length(), element.lkey());
            }
            int bits = 0;
            for (AdviceFlag flag : flags) {
                bits |= flag.bit();
            }
            function.call(pointer, advice.code(), bits, list.address(), given.size())
                    .check(operation, "the device refused " + advice);
        } finally {
            context.unlock();
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException {
        context.lock();
        try {
            checkOpen();
            return new NativeMemoryWindow(services, type);
        } finally {
            context.unlock();
        }
    }

    // ---------------------------------------------------------------- queues and paths

    @Override
    public ProtectionDomain createParentDomain(ParentDomainInitAttributes attributes)
            throws RdmaException {
        checkOpen();
        ThreadDomain ofOneThread = attributes.threadDomain();
        if (attributes.allocator() != null) {
            throw RdmaException.unsupported(CREATE_PARENT,
                    "native devices allocate the memory of their queues themselves");
        }
        if (services.root() != null) {
            throw new RdmaException(Errno.EINVAL, CREATE_PARENT,
                    "this is a parent domain itself; make it of its protection domain");
        }
        if (ofOneThread != null && !(ofOneThread instanceof NativeThreadDomain known
                && known.owner().equals(context))) {
            throw new RdmaException(Errno.EINVAL, CREATE_PARENT,
                    "the thread domain is of another device context");
        }
        context.lock();
        try {
            checkOpen();
            NativeThreadDomain own = (NativeThreadDomain) ofOneThread;
            if (own != null) {
                own.checkOpen();
            }
            return new NativeProtectionDomain(services, own);
        } finally {
            context.unlock();
        }
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        context.lock();
        try {
            checkOpen();
            return new NativeQueuePair(services, new QueuePairInitAttributes(attributes));
        } catch (OutOfMemoryError none) {
            throw MemoryErrors.outOfMemory("create queue pair", none);
        } finally {
            context.unlock();
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes wanted)
            throws RdmaException {
        context.lock();
        try {
            checkOpen();
            return new NativeSharedReceiveQueue(services,
                    new SharedReceiveQueueInitAttributes(wanted));
        } catch (OutOfMemoryError none) {
            throw MemoryErrors.outOfMemory("create shared receive queue", none);
        } finally {
            context.unlock();
        }
    }

    @Override
    public AddressHandle createAddressHandle(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        checkOpen();
        return ProtectionDomain.super.createAddressHandle(port, completion, header);
    }

    @Override
    public AddressHandle createAddressHandle(AddressHandleAttributes attributes)
            throws RdmaException {
        context.lock();
        try {
            checkOpen();
            return new NativeAddressHandle(services, attributes);
        } finally {
            context.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close protection domain";
        context.lock();
        try {
            if (services.isClosed()) {
                return;
            }
            services.children().requireNone(operation);
            context.verbs().get(VerbsSymbol.DEALLOC_PD).call(pointer).check(operation,
                    "objects made in it are alive");
            services.onClosed();
            DomainServices root = services.root();
            context.owned().remove(ObjectKind.PROTECTION_DOMAIN, this);
            if (root == null) {
                context.children().remove(ObjectKind.PROTECTION_DOMAIN);
            } else {
                root.children().remove(ObjectKind.PARENT_DOMAIN);
            }
            if (threadDomain != null) {
                threadDomain.children().remove(ObjectKind.PARENT_DOMAIN);
            }
        } finally {
            context.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
