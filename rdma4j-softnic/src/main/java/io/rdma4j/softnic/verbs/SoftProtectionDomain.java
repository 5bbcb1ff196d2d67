// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.RegionMemory;
import io.rdma4j.device.RegionPlace;
import io.rdma4j.device.ResourceText;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.BufferAllocator;
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
import io.rdma4j.verbs.SharedReceiveQueueType;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A protection domain, or a parent domain, which shares the regions of another domain and adds an allocator for the memory
 * of queues.
 */
final class SoftProtectionDomain implements ProtectionDomain, SoftDomainServices.Holder {
    private static final String REGISTER = "register memory";
    private static final String ADVISE = "advise on memory";

    private final SoftDomainServices services;
    private final SoftContextServices context;
    private final NicServices nic;
    private final @Nullable SoftDomainServices shared;
    private final @Nullable SoftThreadDomain threadDomain;

    SoftProtectionDomain(SoftContextServices context) {
        this.context = context;
        nic = context.nic();
        shared = null;
        threadDomain = null;
        services = new SoftDomainServices(this, context);
    }

    private SoftProtectionDomain(SoftDomainServices shared,
            @Nullable SoftThreadDomain threadDomain, @Nullable BufferAllocator allocator) {
        context = shared.owner();
        nic = context.nic();
        this.shared = shared;
        this.threadDomain = threadDomain;
        services = new SoftDomainServices(this, shared, allocator);
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    @Override
    public SoftDomainServices services() {
        return services;
    }

    // ---------------------------------------------------------------- memory

    @Override
    public MemoryRegion register(MemorySegment segment, Set<AccessFlag> access)
            throws RdmaException {
        return register(segment,
                access.contains(AccessFlag.ZERO_BASED) ? 0 : segment.address(), access);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException {
        MemoryChecks.check(REGISTER, segment);
        MemoryChecks.check(REGISTER, segment, access);
        return register(segment, iova, access, null, null);
    }

    @Override
    public MemoryRegion allocateRegion(long byteSize, Set<AccessFlag> access)
            throws RdmaException {
        services.checkOpen();
        Arena arena = Arena.ofShared();
        boolean isRegistered = false;
        try {
            MemorySegment lendable = nic.memory().lendable().allocate(byteSize, arena);
            MemorySegment segment = lendable == null
                    ? RegionMemory.allocate(arena, REGISTER, byteSize)
                    : lendable;
            MemoryChecks.check(REGISTER, segment, access);
            MemoryRegion region = register(segment,
                    access.contains(AccessFlag.ZERO_BASED) ? 0 : segment.address(), access, null,
                    arena);
            isRegistered = true;
            return region;
        } finally {
            if (!isRegistered) {
                arena.close();
            }
        }
    }

    @Override
    public MemoryRegion register(MemoryRegionInitAttributes wanted) throws RdmaException {
        services.checkOpen();
        MemoryRegionInitAttributes attributes = new MemoryRegionInitAttributes(wanted);
        return switch (RegionPlace.of(attributes)) {
            case SEGMENT -> registerSegment(attributes);
            case DEVICE_MEMORY -> registerInDevice(attributes);
            case DMA_BUF -> throw RdmaException.unsupported(REGISTER, "a dma-buf is memory of"
                    + " another device, which a software device does not reach");
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
        if (!(attributes.deviceMemory() instanceof SoftDeviceMemory memory)
                || !memory.context().equals(context())) {
            throw new RdmaException(Errno.EINVAL, REGISTER,
                    "the device memory is of another device context");
        }
        Set<AccessFlag> access = attributes.access();
        if (!access.contains(AccessFlag.ZERO_BASED) || attributes.iova() != null) {
            throw new RdmaException(Errno.EINVAL, REGISTER,
                    "device memory has no address: its regions are ZERO_BASED");
        }
        MemorySegment stretch = memory.slice(REGISTER, attributes.deviceOffset(),
                attributes.deviceLength());
        MemoryChecks.check(REGISTER, stretch, access);
        return register(stretch, 0, access, memory, null);
    }

    private MemoryRegion register(MemorySegment segment, long address, Set<AccessFlag> access,
            @Nullable SoftDeviceMemory deviceMemory, @Nullable Arena ownArena)
            throws RdmaException {
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.MEMORY_REGION, Limits.REGIONS, "max_mr");
            if (deviceMemory != null) {
                deviceMemory.checkOpen();
            }
            boolean isOwn = deviceMemory != null || ownArena != null;
            SoftMemoryRegion region = new SoftMemoryRegion(services,
                    new RegisteredMemory(nic.memory().newKey(), services.root(), segment, address,
                            AccessFlag.bits(access), nic.memory().lendable().placeOf(segment),
                            !isOwn && RegisteredMemory.canVanish(segment)),
                    access, deviceMemory, ownArena);
            services.add(ObjectKind.MEMORY_REGION, ObjectKind.MEMORY_REGION, region);
            if (deviceMemory != null) {
                deviceMemory.children().add(ObjectKind.MEMORY_REGION);
            }
            return region;
        });
    }

    @Override
    public MemoryRegion registerNull() throws RdmaException {
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.MEMORY_REGION, Limits.REGIONS, "max_mr");
            Arena arena = Arena.ofShared();
            RegisteredMemory nothing = Limits.allocate(REGISTER, () -> RegisteredMemory
                    .nothing(nic.memory().newKey(), services.root(), arena));
            SoftMemoryRegion region = new SoftMemoryRegion(services, nothing,
                    Set.of(AccessFlag.LOCAL_WRITE), null, arena);
            services.add(ObjectKind.MEMORY_REGION, ObjectKind.MEMORY_REGION, region);
            return region;
        });
    }

    @Override
    public void advise(MemoryAdvice advice, List<ScatterGatherElement> elements,
            AdviceFlag... flags)
            throws RdmaException {
        services.checkOpen();
        MemoryReference place = new MemoryReference();
        DomainMemory memory = services.memoryOf(0);
        for (ScatterGatherElement element : elements) {
            if (!(nic.memory().find(element.lkey()) instanceof RegisteredMemory region)
                    || region.key() != element.lkey() || !region.domain().equals(services.root())) {
                throw new RdmaException(Errno.ENOENT, ADVISE, String.format(
                        "0x%08x is the key of no region of this domain", element.lkey()));
            }
            if (!region.covers(element.address(), element.length())) {
                throw new RdmaException(Errno.EFAULT, ADVISE, String.format(
                        "0x%x and %d bytes are not inside the region", element.address(),
                        element.length()));
            }
            boolean isWrite = advice == MemoryAdvice.PREFETCH_WRITE;
            if (element.length() > 0 && !memory.local(element.lkey(), element.address(),
                    element.length(), isWrite, place)) {
                throw new RdmaException(Errno.EINVAL, ADVISE,
                        "the region lacks LOCAL_WRITE, or its memory is gone");
            }
            if (advice != MemoryAdvice.PREFETCH_NO_FAULT && element.length() > 0) {
                bringIn(place.segment().asSlice(place.offset(), element.length()));
            }
        }
    }

    private static void bringIn(MemorySegment memory) {
        if (memory.isMapped()) {
            memory.load();
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException {
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.MEMORY_WINDOW, Limits.WINDOWS, "max_mw");
            SoftMemoryWindow window = new SoftMemoryWindow(services, type);
            services.add(ObjectKind.MEMORY_WINDOW, ObjectKind.MEMORY_WINDOW, window);
            return window;
        });
    }

    // ---------------------------------------------------------------- queues and paths

    @Override
    public ProtectionDomain createParentDomain(ParentDomainInitAttributes attributes)
            throws RdmaException {
        services.checkOpen();
        SoftThreadDomain thread = own(attributes.threadDomain());
        BufferAllocator queueMemory = attributes.allocator();
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            if (thread != null) {
                thread.checkOpen();
                thread.children().add(ObjectKind.PARENT_DOMAIN);
            }
            services.children().add(ObjectKind.PARENT_DOMAIN);
            SoftProtectionDomain parent = new SoftProtectionDomain(services, thread,
                    queueMemory);
            services.owner().owned().add(ObjectKind.PROTECTION_DOMAIN, parent);
            return parent;
        });
    }

    private @Nullable SoftThreadDomain own(@Nullable ThreadDomain wanted) throws RdmaException {
        if (wanted == null) {
            return null;
        }
        if (wanted instanceof SoftThreadDomain own && own.context().equals(context())) {
            return own;
        }
        throw new RdmaException(Errno.EINVAL, "create parent domain",
                "the thread domain is of another device context");
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        nic.port().hold(null);
        nic.transport().prepareQueuePairNumbers();
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            context.requireWorking("create queue pair");
            QueuePairSpec spec = QueuePairSpec.of(services, attributes);
            nic.objects().totals().requireRoom(ObjectKind.QUEUE_PAIR, Limits.QUEUE_PAIRS, "max_qp");
            int number = nic.transport().newQueuePairNumber();
            SoftQueuePair queuePair = Limits.allocate("create queue pair",
                    () -> new SoftQueuePair(services, spec, number));
            services.add(ObjectKind.QUEUE_PAIR, ObjectKind.QUEUE_PAIR, queuePair);
            return queuePair;
        });
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes wanted)
            throws RdmaException {
        String operation = "create shared receive queue";
        services.checkOpen();
        SharedReceiveQueueInitAttributes attributes = new SharedReceiveQueueInitAttributes(wanted);
        if (attributes.type() != SharedReceiveQueueType.BASIC) {
            throw RdmaException.unsupported(operation,
                    "this device offers type BASIC, not " + attributes.type());
        }
        if (attributes.xrcDomain() != null || attributes.completionQueue() != null) {
            throw new RdmaException(Errno.EINVAL, operation, "an XRC domain and a completion queue"
                    + " are for type XRC, not BASIC, whose queue pairs have them");
        }
        Limits.checkRange(operation, "maxRequests", attributes.maxRequests(), 1,
                Limits.SHARED_REQUESTS);
        Limits.checkRange(operation, "maxElements", attributes.maxElements(), 0, Limits.ELEMENTS);
        Limits.checkRange(operation, "limit", attributes.limit(), 0, attributes.maxRequests());
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.SHARED_RECEIVE_QUEUE,
                    Limits.SHARED_QUEUES,
                    "max_srq");
            SoftSharedReceiveQueue queue = Limits.allocate(operation,
                    () -> new SoftSharedReceiveQueue(services, attributes));
            services.add(ObjectKind.SHARED_RECEIVE_QUEUE, ObjectKind.SHARED_RECEIVE_QUEUE,
                    queue);
            return queue;
        });
    }

    @Override
    public AddressHandle createAddressHandle(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        services.checkOpen();
        return ProtectionDomain.super.createAddressHandle(port, completion, header);
    }

    @Override
    public AddressHandle createAddressHandle(AddressHandleAttributes attributes)
            throws RdmaException {
        services.checkOpen();
        UnreliableDatagrams datagrams = context.datagrams("create address handle");
        ModifyChecks.checkPath("create address handle", nic.port().gids(), attributes);
        return nic.driver().call(nowNs -> {
            services.checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.ADDRESS_HANDLE, Limits.ADDRESS_HANDLES,
                    "max_ah");
            SoftAddressHandle handle = new SoftAddressHandle(services, attributes,
                    datagrams.route(attributes));
            services.add(ObjectKind.ADDRESS_HANDLE, ObjectKind.ADDRESS_HANDLE, handle);
            return handle;
        });
    }

    @Override
    public void close() throws RdmaException {
        nic.driver().call(nowNs -> {
            if (services.beginClose("close protection domain")) {
                services.owner().owned().remove(ObjectKind.PROTECTION_DOMAIN, this);
                if (shared != null) {
                    shared.children().remove(ObjectKind.PARENT_DOMAIN);
                    if (threadDomain != null) {
                        threadDomain.children().remove(ObjectKind.PARENT_DOMAIN);
                    }
                } else {
                    context.children().remove(ObjectKind.PROTECTION_DOMAIN);
                    nic.objects().totals().remove(ObjectKind.PROTECTION_DOMAIN);
                }
            }
            return this;
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
