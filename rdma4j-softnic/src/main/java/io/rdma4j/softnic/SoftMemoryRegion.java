package io.rdma4j.softnic;

import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** A registered memory region. */
final class SoftMemoryRegion implements MemoryRegion {
    private static final String OPERATION = "register memory";
    private static final Thread ANOTHER_THREAD = new Thread();

    private final SoftProtectionDomain domain;
    private final RegisteredMemory memory;
    private final long address;
    private final Set<AccessFlag> access;
    private boolean isClosed;

    SoftMemoryRegion(SoftProtectionDomain domain, MemorySegment segment, long address,
            Set<AccessFlag> access) {
        this.domain = domain;
        this.address = address;
        this.access = Set.copyOf(access);
        memory = new RegisteredMemory(domain.nic().newKey(), domain, segment, address,
                AccessFlag.bits(access));
        domain.nic().regions().put(RegisteredMemory.id(memory.key()), memory);
    }

    /** Checks what is to be registered. Source: IBTA 10.6.3.1 for the rights. */
    static void check(MemorySegment segment, Set<AccessFlag> access) throws RdmaException {
        if (segment.byteSize() == 0) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the segment has no bytes");
        }
        if (!segment.isNative()) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the segment is on the heap, where memory moves; use native or mapped memory");
        }
        if (!segment.isAccessibleBy(ANOTHER_THREAD)) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the segment belongs to a confined"
                    + " arena, which only its own thread may use; use a shared, automatic or global one");
        }
        if (!segment.scope().isAlive()) {
            throw new RdmaException(Errno.EINVAL, OPERATION, "the segment's arena is closed");
        }
        boolean isWritten = access.contains(AccessFlag.LOCAL_WRITE);
        if (segment.isReadOnly() && isWritten) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "the segment is read-only, so LOCAL_WRITE is not possible");
        }
        if (!isWritten && (access.contains(AccessFlag.REMOTE_WRITE)
                || access.contains(AccessFlag.REMOTE_ATOMIC))) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE beside them");
        }
        Set<AccessFlag> unsupported = EnumSet.of(AccessFlag.MW_BIND, AccessFlag.ZERO_BASED,
                AccessFlag.ON_DEMAND, AccessFlag.HUGETLB, AccessFlag.FLUSH_GLOBAL,
                AccessFlag.FLUSH_PERSISTENT);
        unsupported.retainAll(access);
        if (!unsupported.isEmpty()) {
            throw RdmaException.unsupported(OPERATION,
                    "this device does not offer " + unsupported);
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        return memory.segment();
    }

    @Override
    public long address() {
        return address;
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
        throw RdmaException.unsupported("reregister memory", "not yet");
    }

    @Override
    public void close() {
        domain.nic().driver().run(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                domain.nic().regions().remove(RegisteredMemory.id(memory.key()));
                domain.children().remove("memory region");
                domain.owner().totals().remove("memory region");
            }
        });
    }
}
