// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** A registered memory region. */
final class SoftMemoryRegion implements MemoryRegion {
    private static final String REREGISTER = "reregister memory";

    private final @Nullable SoftDeviceMemory deviceMemory;
    private final @Nullable Arena ownArena;
    private volatile SoftDomainServices domain;
    private volatile RegisteredMemory memory;
    private volatile Set<AccessFlag> access;
    private boolean isClosed;

    /**
     * For the engine's owner.
     *
     * @param deviceMemory the device memory that contains the memory, or null
     * @param ownArena the arena to close with the region, or null
     */
    SoftMemoryRegion(SoftDomainServices domain, RegisteredMemory memory, Set<AccessFlag> access,
            @Nullable SoftDeviceMemory deviceMemory, @Nullable Arena ownArena) {
        this.ownArena = ownArena;
        this.domain = domain;
        this.memory = memory;
        this.access = Set.copyOf(access);
        this.deviceMemory = deviceMemory;
        domain.nic().memory().put(memory);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    SoftDomainServices owner() {
        return domain;
    }

    private void requireNoWindow(String operation) throws RdmaException {
        int windows = domain.nic().memory().windowsBoundTo(memory);
        if (windows > 0) {
            throw new RdmaException(Errno.EBUSY, operation,
                    windows + " memory window(s) still depend on it; close them first");
        }
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
    public void reregister(MemoryRegionChanges changes) throws RdmaException {
        MemorySegment newSegment = changes.segment();
        ProtectionDomain newDomain = changes.protectionDomain();
        Set<AccessFlag> newAccess = changes.access();
        if (newSegment != null) {
            if (deviceMemory != null) {
                throw new RdmaException(Errno.EINVAL, REREGISTER,
                        "the region lies in device memory and stays there");
            }
            if (ownArena != null && !memory.isNull()) {
                throw new RdmaException(Errno.EINVAL, REREGISTER,
                        "the region has memory of its own, by allocateRegion, which stays");
            }
            MemoryChecks.check(REREGISTER, newSegment);
        }
        SoftDomainServices nextDomain = newDomain == null
                ? domain
                : SoftDomainServices.own(newDomain, domain.owner(), REREGISTER);
        domain.nic().driver().call(nowNs -> {
            if (isClosed) {
                throw RdmaClosedException.of("memory region");
            }
            nextDomain.checkOpen();
            requireNoWindow(REREGISTER);
            RegisteredMemory now = memory;
            if (now.isNull()) {
                throw new RdmaException(Errno.EINVAL, REREGISTER,
                        "the region is of no memory and stays so");
            }
            MemorySegment segment = newSegment == null ? now.segment() : newSegment;
            Set<AccessFlag> rights = newAccess == null ? access : newAccess;
            MemoryChecks.check(REREGISTER, segment, rights);
            long address = newSegment == null
                    ? now.address()
                    : rights.contains(AccessFlag.ZERO_BASED) ? 0 : newSegment.address();
            memory = new RegisteredMemory(now.key(), nextDomain.root(), segment, address,
                    AccessFlag.bits(rights),
                    nextDomain.nic().memory().lendable().placeOf(segment),
                    newSegment == null ? now.canVanish() : RegisteredMemory.canVanish(newSegment));
            access = rights;
            nextDomain.nic().memory().put(memory);
            nextDomain.children().add(ObjectKind.MEMORY_REGION);
            domain.children().remove(ObjectKind.MEMORY_REGION);
            domain = nextDomain;
            return this;
        });
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().call(nowNs -> {
            if (!isClosed) {
                requireNoWindow("close memory region");
                isClosed = true;
                domain.nic().memory().remove(memory);
                domain.remove(ObjectKind.MEMORY_REGION, ObjectKind.MEMORY_REGION, this);
                if (deviceMemory != null) {
                    deviceMemory.children().remove(ObjectKind.MEMORY_REGION);
                }
                if (ownArena != null) {
                    // Other registrations of the same memory have lent it as well.
                    domain.nic().memory().lendable().ends(memory.sharedAt(), length());
                    ownArena.close();
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
