// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.BoundWindow;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.WatchedRegion;
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

/**
 * A registered memory region. The kernel pins its pages, so if an arena is closed before the region, the device can still
 * access memory that the process may use for something else. Posting checks the arena and ends the access of a region whose
 * arena is closed, but a peer that knows the key can access it before that.
 */
public final class NativeMemoryRegion implements MemoryRegion, WatchedRegion {
    private static final String REREGISTER = "reregister memory";
    private static final int CHANGE_TRANSLATION = 1;
    private static final int CHANGE_DOMAIN = 1 << 1;
    private static final int CHANGE_ACCESS = 1 << 2;
    /** The region has changed; its old memory is not handed on to child processes, which does not matter here. */
    private static final int OLD_MEMORY_NOT_FORKED = -3;
    private static final int COMMAND_FAILED = -4;
    private static final int COMMAND_AND_FORK_FAILED = -5;

    private final ContextServices services;
    private final long pointer;
    private final ChildCounts children = new ChildCounts();
    private final UseCount users = new UseCount();
    private final @Nullable NativeDeviceMemory deviceMemory;
    private final @Nullable Arena ownArena;
    private volatile DomainServices domain;
    private volatile MemorySegment segment;
    private volatile Set<AccessFlag> access;
    private volatile long address;
    private volatile long length;
    private volatile int lkey;
    private volatile int rkey;
    private volatile boolean isClosed;
    /** A change has failed half-way, so it is unknown which memory is registered; the registration must be ended. */
    private volatile boolean isSpoiled;
    /** The library's object was freed before this one is closed. */
    private volatile boolean isEnded;

    /** Memory of the process. Under the context's lock. */
    public NativeMemoryRegion(DomainServices domain, long pointer, MemorySegment segment,
            long address, Set<AccessFlag> access) {
        this(domain, pointer, segment, null, null, address, segment.byteSize(), access);
    }

    /** A region with its own arena, which is closed with it. Under the context's lock. */
    public NativeMemoryRegion(DomainServices domain, long pointer, MemorySegment segment,
            Arena ownArena, long address, Set<AccessFlag> access) {
        this(domain, pointer, segment, null, ownArena, address, segment.byteSize(), access);
    }

    /** Memory of the device. Under the context's lock. */
    public NativeMemoryRegion(DomainServices domain, long pointer,
            NativeDeviceMemory deviceMemory, long length, Set<AccessFlag> access) {
        this(domain, pointer, MemorySegment.NULL, deviceMemory, null, 0, length, access);
    }

    /** A region of another device's memory, or of none. Under the context's lock. */
    public NativeMemoryRegion(DomainServices domain, long pointer, long address, long length,
            Set<AccessFlag> access) {
        this(domain, pointer, MemorySegment.NULL, null, null, address, length, access);
    }

    private NativeMemoryRegion(DomainServices domain, long pointer, MemorySegment segment,
            @Nullable NativeDeviceMemory deviceMemory, @Nullable Arena ownArena, long address,
            long length, Set<AccessFlag> access) {
        this.ownArena = ownArena;
        this.deviceMemory = deviceMemory;
        this.length = length;
        this.domain = domain;
        this.pointer = pointer;
        this.segment = segment;
        this.address = address;
        this.access = Set.copyOf(access);
        services = domain.owner();
        readKeys();
        domain.children().add(ObjectKind.MEMORY_REGION);
        services.owned().add(ObjectKind.MEMORY_REGION, this);
        domain.regions().put(lkey, this);
        if (deviceMemory != null) {
            deviceMemory.children().add(ObjectKind.MEMORY_REGION);
        }
        watch();
    }

    /**
     * Watches memory that may be unmapped while it is registered: memory that is neither the region's own nor of the global
     * arena.
     */
    private void watch() {
        MemorySegment.Scope scope = segment.scope();
        if (ownArena == null && !scope.equals(Arena.global().scope())) {
            services.events().regionWatch().add(this, scope);
        }
    }

    private void readKeys() {
        MemorySegment structure = Native.at(pointer, Layout.MemoryRegion.SIZE);
        lkey = Native.getInt(structure, Layout.MemoryRegion.LKEY);
        rkey = Native.getInt(structure, Layout.MemoryRegion.RKEY);
    }

    public long pointer() {
        return pointer;
    }

    public DomainServices owner() {
        return domain;
    }

    public ChildCounts children() {
        return children;
    }

    /** {@return how many requests that bind a window to it are being posted} */
    public UseCount users() {
        return users;
    }

    /** A request is about to name it. Under the context's lock. */
    public void beginUse() throws RdmaException {
        checkOpen();
        if (!users.begin()) {
            throw RdmaClosedException.of("memory region");
        }
    }

    public void checkOpen() throws RdmaException {
        if (isClosed || isEnded || isSpoiled) {
            throw new RdmaClosedException("use memory region",
                    isClosed ? "the memory region is closed"
                            : isSpoiled
                                    ? "the memory region could not be reregistered, which ended its"
                                            + " registration"
                                    : "the arena of the memory region is closed, which ended its"
                                            + " registration");
        }
    }

    /** {@return whether its memory still exists} */
    @Override
    public boolean isAlive() {
        return !isClosed && !isEnded && !isSpoiled && segment.scope().isAlive();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
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
    public void reregister(MemoryRegionChanges changes) throws RdmaException {
        checkOpen();
        MemorySegment newSegment = changes.segment();
        ProtectionDomain newDomain = changes.protectionDomain();
        Set<AccessFlag> newAccess = changes.access();
        if (ownArena != null && newSegment != null) {
            throw new RdmaException(Errno.EINVAL, REREGISTER, "the region has memory of its own,"
                    + " by allocateRegion, which is not exchanged");
        }
        if (deviceMemory != null && newSegment != null) {
            throw new RdmaException(Errno.EINVAL, REREGISTER,
                    "the region lies in device memory and stays there");
        }
        if (deviceMemory != null) {
            throw RdmaException.unsupported(REREGISTER,
                    "a region of device memory is changed by closing and registering again");
        }
        int flags = (newSegment == null ? 0 : CHANGE_TRANSLATION)
                | (newDomain == null ? 0 : CHANGE_DOMAIN) | (newAccess == null ? 0 : CHANGE_ACCESS);
        MemorySegment memory;
        services.lock();
        try {
            // Read under the lock, because another thread may change it too: attributes that stay keep their present
            // values.
            DomainServices next = newDomain == null ? domain
                    : DomainServices.own(newDomain, services, REREGISTER);
            memory = newSegment == null ? segment : newSegment;
            Set<AccessFlag> rights = newAccess == null ? access : newAccess;
            RegionChecks.check(REREGISTER, memory, rights);
            checkOpen();
            next.checkOpen();
            children.requireNone(REREGISTER);
            NativeFunction function = services.verbs().get(VerbsSymbol.REREG_MR);
            checkChanged(function.call(pointer, flags, next.pointer(), memory.address(),
                    memory.byteSize(), newAccess == null ? 0 : AccessFlag.bits(rights)));
            domain.regions().remove(lkey, this);
            domain.children().remove(ObjectKind.MEMORY_REGION);
            domain = next;
            segment = memory;
            access = rights;
            address = newSegment == null ? address : memory.address();
            length = memory.byteSize();
            readKeys();
            next.children().add(ObjectKind.MEMORY_REGION);
            next.regions().put(lkey, this);
            watch();
        } finally {
            services.unlock();
        }
        if (!memory.scope().isAlive()) {
            endAccess();
            throw new RdmaException(Errno.EFAULT, REREGISTER,
                    "the segment's arena was closed while its memory was registered");
        }
    }

    /**
     * Evaluates {@code enum ibv_rereg_mr_err_code}: the region has changed, is unchanged, or its state is unknown, and then
     * it is ended.
     */
    private void checkChanged(Outcome outcome) throws RdmaException {
        if (outcome.value() == 0 || outcome.value() == OLD_MEMORY_NOT_FORKED) {
            return;
        }
        RdmaException refused = ErrorNumbers.failure(REREGISTER, outcome.errno(),
                "the device refused; many drivers cannot: close the region and register again");
        // The kernel does not support the call for this device, so nothing has changed.
        boolean isUntouched = refused.errno() == Errno.EOPNOTSUPP;
        if (!isUntouched && (outcome.value() == COMMAND_FAILED
                || outcome.value() == COMMAND_AND_FORK_FAILED)) {
            isSpoiled = true;
            if (!endAccess()) {
                services.events().regionWatch().addEnding(this);
            }
            throw new RdmaException(refused.errno(), REREGISTER,
                    "the device failed, which ended the registration: close the region and"
                            + " register again");
        }
        throw refused;
    }

    /**
     * Ends the device's access to the memory, also through windows, if the arena is closed or a change has failed half-way.
     * The region object stays until it is closed, so that posting with it reports the reason.
     *
     * @return whether nothing is left to end
     */
    @Override
    public boolean endAccess() {
        services.lock();
        try {
            // Checked again, because it may have got other memory since.
            if (!isClosed && !isEnded && !isAlive() && endWindows() && users.closeIfUnused()) {
                deregister();
            }
            return isClosed || isEnded;
        } finally {
            services.unlock();
        }
    }

    private void deregister() {
        isEnded = services.verbs().get(VerbsSymbol.DEREG_MR).call(pointer).value() == 0;
    }

    /** {@return whether no window is bound to it any more} The device keeps a region that has one. */
    private boolean endWindows() {
        for (BoundWindow window : services.windows()) {
            if (equals(window.boundTo())) {
                window.endAccess();
            }
        }
        return children.total() == 0;
    }

    /**
     * Must be called after the registration, because the memory may have been unmapped since the check.
     *
     * @throws RdmaException EFAULT if the memory was unmapped; the registration was ended
     */
    public void requireMemory(String operation) throws RdmaException {
        if (!segment.scope().isAlive()) {
            close();
            throw new RdmaException(Errno.EFAULT, operation,
                    "the segment's arena was closed while its memory was registered");
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close memory region";
        if (!isClosed) {
            children.requireNone(operation);
        }
        users.awaitPosted();
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            children.requireNone(operation);
            users.close(operation);
            if (!isEnded) {
                services.verbs().get(VerbsSymbol.DEREG_MR).call(pointer).check(operation,
                        "memory windows are bound to it; close them first");
            }
            isClosed = true;
            domain.regions().remove(lkey, this);
            domain.children().remove(ObjectKind.MEMORY_REGION);
            services.owned().remove(ObjectKind.MEMORY_REGION, this);
            if (deviceMemory != null) {
                deviceMemory.children().remove(ObjectKind.MEMORY_REGION);
            }
            services.events().regionWatch().remove(this);
            if (ownArena != null) {
                ownArena.close();
            }
        } finally {
            if (!isClosed && !isEnded) {
                users.reopen();
            }
            services.unlock();
        }
    }

    /**
     * {@return a region of this context that is open}
     *
     * @throws RdmaException EINVAL if it is of another
     */
    public static NativeMemoryRegion own(MemoryRegion region, ContextServices services,
            String operation)
            throws RdmaException {
        if (region instanceof NativeMemoryRegion own && own.services.equals(services)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the memory region is of another device context");
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
