// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.verbs.AccessFlag;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A registered range of memory. Immutable: a changed registration replaces it under the same key. */
public final class RegisteredMemory implements KeyedMemory {
    /**
     * The longest access to a null region: the largest payload of a packet, including one that represents
     * several.
     */
    public static final int MAX_ACCESS = 1 << 20;

    private final int key;
    private final Object domain;
    private final MemorySegment segment;
    private final long address;
    private final int access;
    private final long sharedAt;
    private final boolean canVanish;
    /** Of a null region: as many zeros as can be read, then as many bytes to be overwritten. */
    private final @Nullable MemorySegment nothing;

    /**
     * @param key its key
     * @param domain the protection domain it belongs to
     * @param address the address of its first byte, as requests name it
     * @param access verbs.h bits of the allowed accesses
     */
    public RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access) {
        this(key, domain, segment, address, access, NOT_SHARED, true);
    }

    /**
     * As above.
     *
     * @param sharedAt as {@link #sharedAt}
     * @param canVanish as {@link #canVanish}
     */
    public RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access, long sharedAt, boolean canVanish) {
        this(key, domain, segment, address, access, sharedAt, canVanish, null);
    }

    private RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access, long sharedAt, boolean canVanish, @Nullable MemorySegment nothing) {
        this.key = key;
        this.domain = domain;
        this.segment = segment;
        this.address = address;
        this.access = access;
        this.sharedAt = sharedAt;
        this.canVanish = canVanish;
        this.nothing = nothing;
    }

    /**
     * {@return memory that discards writes and reads as zeros}
     *
     * @param arena allocates what stands for it
     */
    public static RegisteredMemory nothing(int key, Object domain, Arena arena) {
        return new RegisteredMemory(key, domain, MemorySegment.NULL, 0,
                AccessFlag.LOCAL_WRITE.bit(), NOT_SHARED, false, arena.allocate(2L * MAX_ACCESS));
    }

    /** {@return whether a thread of an application may end the life of memory that it registers} */
    public static boolean canVanish(MemorySegment segment) {
        return !segment.scope().equals(Arena.global().scope());
    }

    @Override
    public int key() {
        return key;
    }

    @Override
    public long sharedAt() {
        return sharedAt;
    }

    @Override
    public boolean canVanish() {
        return canVanish;
    }

    /** {@return whether it is memory that discards writes} */
    public boolean isNull() {
        return nothing != null;
    }

    /** {@return the protection domain it belongs to} */
    public Object domain() {
        return domain;
    }

    /** {@return the memory} */
    public MemorySegment segment() {
        return segment;
    }

    /** {@return the address of its first byte, as requests count} */
    public long address() {
        return address;
    }

    /** {@return verbs.h bits of the allowed accesses} */
    public int access() {
        return access;
    }

    /** {@return whether a range lies inside} */
    public boolean covers(long wantedAddress, long length) {
        long size = segment.byteSize();
        return length >= 0 && length <= size
                && Long.compareUnsigned(wantedAddress - address, size - length) <= 0;
    }

    /**
     * Checks an access by a local request.
     *
     * @param length at least 1
     * @param isWrite whether the request writes to it
     * @param target receives the location of the memory, if allowed
     */
    boolean allowsLocal(int wantedKey, Object wantedDomain, long wantedAddress, long length,
            boolean isWrite, MemoryReference target) {
        if (nothing != null) {
            return allowsNothing(nothing, wantedKey, wantedDomain, wantedAddress, length, isWrite,
                    target);
        }
        return allows(wantedKey, wantedDomain, wantedAddress, length,
                isWrite ? AccessFlag.LOCAL_WRITE.bit() : 0, target);
    }

    private boolean allowsNothing(MemorySegment both, int wantedKey, Object wantedDomain,
            long wantedAddress, long length, boolean isWrite, MemoryReference target) {
        if (wantedKey == key && domain.equals(wantedDomain) && length <= MAX_ACCESS) {
            target.point(both, isWrite ? MAX_ACCESS : 0);
            return true;
        }
        return allows(wantedKey, wantedDomain, wantedAddress, length,
                isWrite ? AccessFlag.LOCAL_WRITE.bit() : 0, target);
    }

    @Override
    public boolean allowsPeer(int wantedKey, Object wantedDomain, int queuePair, long wantedAddress,
            long length, int needed, MemoryReference target) {
        return allows(wantedKey, wantedDomain, wantedAddress, length, needed, target);
    }

    @Override
    public AccessRefusal refusal(int wantedKey, Object wantedDomain, int queuePair, int needed) {
        if (wantedKey != key || !segment.scope().isAlive()) {
            return AccessRefusal.INVALID_KEY;
        }
        if (!domain.equals(wantedDomain)) {
            return AccessRefusal.OTHER_DOMAIN;
        }
        return (access & needed) == needed
                ? AccessRefusal.OUT_OF_BOUNDS
                : AccessRefusal.NOT_ALLOWED;
    }

    @Override
    public long allowsPeerWhole(int wantedKey, Object wantedDomain, int queuePair, int needed,
            MemoryReference target) {
        return allows(wantedKey, wantedDomain, address, segment.byteSize(), needed, target)
                ? segment.byteSize()
                : -1;
    }

    private boolean allows(int wantedKey, Object wantedDomain, long wantedAddress, long length,
            int needed, MemoryReference target) {
        if (wantedKey != key || !domain.equals(wantedDomain) || (access & needed) != needed
                || length <= 0 || !covers(wantedAddress, length) || !segment.scope().isAlive()) {
            return false;
        }
        target.point(segment, wantedAddress - address, this);
        return true;
    }
}
