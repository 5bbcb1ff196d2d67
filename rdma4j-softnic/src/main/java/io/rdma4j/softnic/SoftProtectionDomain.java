package io.rdma4j.softnic;

import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.ThreadDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/** A protection domain. */
final class SoftProtectionDomain implements ProtectionDomain {
    private final SoftDeviceContext context;
    private final LiveObjects children = new LiveObjects();
    private final DomainMemory memory;
    private boolean isClosed;

    SoftProtectionDomain(SoftDeviceContext context) {
        this.context = context;
        memory = new DomainMemory(context.nic().regions(), this);
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    SoftDeviceContext owner() {
        return context;
    }

    SoftNic nic() {
        return context.nic();
    }

    LiveObjects children() {
        return children;
    }

    DomainMemory memory() {
        return memory;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the protection domain is closed");
        }
    }

    @Override
    public MemoryRegion register(MemorySegment segment, Set<AccessFlag> access)
            throws RdmaException {
        return register(segment, segment.address(), access);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException {
        SoftMemoryRegion.check(segment, access);
        return nic().driver().call(nowNs -> {
            checkOpen();
            context.totals().addWithin("memory region", Limits.REGIONS, "max_mr");
            children.add("memory region");
            return new SoftMemoryRegion(this, segment, iova, access);
        });
    }

    @Override
    public MemoryRegion register(MemoryRegionInitAttributes attributes) throws RdmaException {
        throw RdmaException.unsupported("register memory", "not yet");
    }

    @Override
    public MemoryRegion registerNull() throws RdmaException {
        throw RdmaException.unsupported("register memory", "not yet");
    }

    @Override
    public void advise(MemoryAdvice advice, boolean isFlushed, List<ScatterGatherElement> elements)
            throws RdmaException {
        throw RdmaException.unsupported("advise on memory", "not yet");
    }

    @Override
    public ProtectionDomain createParentDomain(@Nullable ThreadDomain threadDomain,
            @Nullable BufferAllocator allocator) throws RdmaException {
        throw RdmaException.unsupported("create parent domain", "not yet");
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        QueuePairPlan plan = QueuePairPlan.of(context, attributes);
        return nic().driver().call(nowNs -> {
            checkOpen();
            context.totals().addWithin("queue pair", Limits.QUEUE_PAIRS, "max_qp");
            children.add("queue pair");
            return new SoftQueuePair(this, plan);
        });
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueAttributes attributes,
            @Nullable Object userContext) throws RdmaException {
        throw RdmaException.unsupported("create shared receive queue",
                "this device has none; give each queue pair receives of its own");
    }

    @Override
    public AddressHandle createAddressHandle(AddressHandleAttributes attributes)
            throws RdmaException {
        throw RdmaException.unsupported("create address handle",
                "this device has no datagram queue pairs; use RC");
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException {
        throw RdmaException.unsupported("allocate memory window",
                "this device has none; register a region for what the peer may access");
    }

    @Override
    public void close() throws RdmaException {
        nic().driver().call(nowNs -> {
            if (!isClosed) {
                children.requireNone("close protection domain");
                isClosed = true;
                context.children().remove("protection domain");
                context.totals().remove("protection domain");
            }
            return this;
        });
    }
}
