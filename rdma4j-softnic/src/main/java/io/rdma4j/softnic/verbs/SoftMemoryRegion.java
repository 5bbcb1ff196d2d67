package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.memory.KeyedMemory;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** A registered memory region. */
final class SoftMemoryRegion implements MemoryRegion {
    private static final String REREGISTER = "reregister memory";

    private final @Nullable SoftDeviceMemory deviceMemory;
    private final ChildCounts children = new ChildCounts();
    private volatile SoftProtectionDomain domain;
    private volatile RegisteredMemory memory;
    private volatile Set<AccessFlag> access;
    private boolean isClosed;

    /**
     * For the engine's owner.
     *
     * @param deviceMemory what the memory is part of, or null
     */
    SoftMemoryRegion(SoftProtectionDomain domain, RegisteredMemory memory, Set<AccessFlag> access,
            @Nullable SoftDeviceMemory deviceMemory) {
        this.domain = domain;
        this.memory = memory;
        this.access = Set.copyOf(access);
        this.deviceMemory = deviceMemory;
        domain.nic().memory().put(KeyedMemory.id(memory.key()), memory);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    SoftProtectionDomain owner() {
        return domain;
    }

    RegisteredMemory memory() {
        return memory;
    }

    /** {@return the windows bound to it} */
    ChildCounts children() {
        return children;
    }

    boolean isClosed() {
        return isClosed;
    }

    @Override
    public MemorySegment segment() {
        return deviceMemory == null ? memory.segment() : MemorySegment.NULL;
    }

    @Override
    public long address() {
        return memory.address();
    }

    @Override
    public long length() {
        return memory.segment().byteSize();
    }

    @Override
    public int lkey() {
        return memory.key();
    }

    @Override
    public int rkey() {
        return memory.key();
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    public void reregister(@Nullable MemorySegment newSegment,
            @Nullable ProtectionDomain newDomain, @Nullable Set<AccessFlag> newAccess)
            throws RdmaException {
        if (newSegment != null) {
            if (deviceMemory != null) {
                throw new RdmaException(Errno.EINVAL, REREGISTER,
                        "the region lies in device memory and stays there");
            }
            MemoryChecks.check(REREGISTER, newSegment);
        }
        SoftProtectionDomain nextDomain = newDomain == null ? domain : own(newDomain);
        domain.nic().driver().call(nowNs -> {
            if (isClosed) {
                throw new IllegalStateException("the memory region is closed");
            }
            nextDomain.checkOpen();
            children.requireNone(REREGISTER);
            RegisteredMemory now = memory;
            if (now.isNull()) {
                throw new RdmaException(Errno.EINVAL, REREGISTER,
                        "the region is of no memory and stays so");
            }
            MemorySegment segment = newSegment == null ? now.segment() : newSegment;
            Set<AccessFlag> rights = newAccess == null ? access : Set.copyOf(newAccess);
            MemoryChecks.check(REREGISTER, segment, rights);
            long address = newSegment == null
                    ? now.address()
                    : rights.contains(AccessFlag.ZERO_BASED) ? 0 : newSegment.address();
            memory = new RegisteredMemory(now.key(), nextDomain.root(), segment, address,
                    AccessFlag.bits(rights));
            access = rights;
            nextDomain.nic().memory().put(KeyedMemory.id(now.key()), memory);
            nextDomain.children().add("memory region");
            domain.children().remove("memory region");
            domain = nextDomain;
            return this;
        });
    }

    private SoftProtectionDomain own(ProtectionDomain other) throws RdmaException {
        if (other instanceof SoftProtectionDomain own && own.owner().equals(domain.owner())) {
            return own;
        }
        throw new RdmaException(Errno.EINVAL, REREGISTER,
                "the protection domain is of another device context");
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().call(nowNs -> {
            if (!isClosed) {
                children.requireNone("close memory region");
                isClosed = true;
                domain.nic().memory().remove(KeyedMemory.id(memory.key()));
                domain.children().remove("memory region");
                domain.nic().totals().remove("memory region");
                if (deviceMemory != null) {
                    deviceMemory.children().remove("memory region");
                }
            }
            return this;
        });
    }
}
