package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A registered memory region. The kernel pins its pages, so an arena that is closed before the region leaves the device
 * with memory that the process may use for something else: posting looks at the arena, and ends the access of a region
 * whose arena is closed, but a peer that knows the key can come before that.
 */
final class NativeMemoryRegion implements MemoryRegion {
    private static final String REREGISTER = "reregister memory";
    private static final int CHANGE_TRANSLATION = 1;
    private static final int CHANGE_DOMAIN = 1 << 1;
    private static final int CHANGE_ACCESS = 1 << 2;

    private final NativeContext context;
    private final long pointer;
    private final Dependents dependents = new Dependents();
    private final @Nullable NativeDeviceMemory deviceMemory;
    private volatile NativeProtectionDomain domain;
    private volatile MemorySegment segment;
    private volatile Set<AccessFlag> access;
    private volatile long address;
    private volatile long length;
    private volatile int lkey;
    private volatile int rkey;
    private volatile boolean isClosed;

    /** Memory of the process. Under the context's lock. */
    NativeMemoryRegion(NativeProtectionDomain domain, long pointer, MemorySegment segment,
            long address, Set<AccessFlag> access) {
        this(domain, pointer, segment, null, address, segment.byteSize(), access);
    }

    /** Memory of the device. Under the context's lock. */
    NativeMemoryRegion(NativeProtectionDomain domain, long pointer,
            NativeDeviceMemory deviceMemory, long length, Set<AccessFlag> access) {
        this(domain, pointer, MemorySegment.NULL, deviceMemory, 0, length, access);
    }

    private NativeMemoryRegion(NativeProtectionDomain domain, long pointer, MemorySegment segment,
            @Nullable NativeDeviceMemory deviceMemory, long address, long length,
            Set<AccessFlag> access) {
        this.deviceMemory = deviceMemory;
        this.length = length;
        this.domain = domain;
        this.pointer = pointer;
        this.segment = segment;
        this.address = address;
        this.access = Set.copyOf(access);
        context = domain.owner();
        readKeys();
        domain.dependents().add();
        domain.regions().put(lkey, this);
        if (deviceMemory != null) {
            deviceMemory.dependents().add();
        }
    }

    private void readKeys() {
        MemorySegment structure = Native.at(pointer, Layout.MemoryRegion.SIZE);
        lkey = Native.getInt(structure, Layout.MemoryRegion.LKEY);
        rkey = Native.getInt(structure, Layout.MemoryRegion.RKEY);
    }

    long pointer() {
        return pointer;
    }

    NativeProtectionDomain owner() {
        return domain;
    }

    Dependents dependents() {
        return dependents;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the memory region is closed");
        }
    }

    /** {@return whether its memory is still there} */
    boolean isAlive() {
        return !isClosed && segment.scope().isAlive();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public int lkey() {
        return lkey;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    public void reregister(@Nullable MemorySegment newSegment,
            @Nullable ProtectionDomain newDomain, @Nullable Set<AccessFlag> newAccess)
            throws RdmaException {
        if (deviceMemory != null) {
            throw RdmaException.unsupported(REREGISTER,
                    "a region of device memory is changed by closing and registering again");
        }
        NativeProtectionDomain next = newDomain == null ? domain
                : NativeProtectionDomain.own(newDomain, context, REREGISTER);
        MemorySegment memory = newSegment == null ? segment : newSegment;
        Set<AccessFlag> rights = newAccess == null ? access : newAccess;
        RegionChecks.check(REREGISTER, memory, rights);
        int flags = (newSegment == null ? 0 : CHANGE_TRANSLATION)
                | (newDomain == null ? 0 : CHANGE_DOMAIN) | (newAccess == null ? 0 : CHANGE_ACCESS);
        context.lock();
        try {
            checkOpen();
            next.checkOpen();
            dependents.requireNone(REREGISTER);
            NativeFunction function = context.verbs().get(VerbsSymbol.REREG_MR);
            Outcome outcome = function.call(pointer, flags, next.pointer(), memory.address(),
                    memory.byteSize(), newAccess == null ? 0 : AccessFlag.bits(rights));
            if (outcome.value() != 0) {
                throw ErrorNumbers.failure(REREGISTER, outcome.errno(),
                        "the device refused; many drivers cannot: close the region and register"
                                + " again");
            }
            domain.regions().remove(lkey, this);
            domain.dependents().remove();
            domain = next;
            segment = memory;
            access = Set.copyOf(rights);
            address = newSegment == null ? address : memory.address();
            length = memory.byteSize();
            readKeys();
            next.dependents().add();
            next.regions().put(lkey, this);
        } finally {
            context.unlock();
        }
    }

    /** Its arena is closed: the device shall not reach the memory any more. */
    void endAccess() {
        try {
            close();
        } catch (RdmaException windowsDependOnIt) {
            // Then it stays registered, as it does in C; nothing is posted with it any more.
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close memory region";
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(operation);
            context.verbs().get(VerbsSymbol.DEREG_MR).call(pointer).check(operation,
                    "memory windows are bound to it; close them first");
            isClosed = true;
            domain.regions().remove(lkey, this);
            domain.dependents().remove();
            if (deviceMemory != null) {
                deviceMemory.dependents().remove();
            }
        } finally {
            context.unlock();
        }
        context.onReleased();
    }

    /**
     * {@return a region of this context that is open}
     *
     * @throws RdmaException EINVAL if it is of another
     */
    static NativeMemoryRegion own(MemoryRegion region, NativeContext context, String operation)
            throws RdmaException {
        if (region instanceof NativeMemoryRegion own && own.context.equals(context)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the memory region is of another device context");
    }
}
