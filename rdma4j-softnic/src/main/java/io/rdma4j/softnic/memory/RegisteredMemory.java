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

    /** The memory behind all null regions of the process, which stays from the first of them on. */
    private static final class Nowhere {
        /** Null until the first null region, when it must be possible to refuse it. */
        private static volatile @Nullable MemorySegment zeros;
        private static volatile @Nullable MemorySegment waste;

        static synchronized void prepare() {
            if (zeros == null) {
                zeros = Arena.global().allocate(MAX_ACCESS);
            }
            if (waste == null) {
                waste = Arena.global().allocate(MAX_ACCESS);
            }
        }

        static MemorySegment of(boolean isWrite) {
            MemorySegment memory = isWrite ? waste : zeros;
            if (memory == null) {
                throw new IllegalStateException("there is no null region");
            }
            return memory;
        }
    }

    private final int key;
    private final Object domain;
    private final MemorySegment segment;
    private final long address;
    private final int access;
    private final boolean isNull;

    /**
     * @param key its key
     * @param domain the protection domain it belongs to
     * @param address the address of its first byte, as requests name it
     * @param access verbs.h bits of the allowed accesses
     */
    public RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access) {
        this(key, domain, segment, address, access, false);
    }

    private RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access, boolean isNull) {
        this.key = key;
        this.domain = domain;
        this.segment = segment;
        this.address = address;
        this.access = access;
        this.isNull = isNull;
    }

    /**
     * {@return memory that discards writes and reads as zeros}
     *
     * @throws OutOfMemoryError if the process has no native memory for it
     */
    public static RegisteredMemory nothing(int key, Object domain) {
        Nowhere.prepare();
        return new RegisteredMemory(key, domain, MemorySegment.NULL, 0,
                AccessFlag.LOCAL_WRITE.bit(), true);
    }

    @Override
    public int key() {
        return key;
    }

    /** {@return whether it is memory that discards writes} */
    public boolean isNull() {
        return isNull;
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
        if (isNull && wantedKey == key && domain.equals(wantedDomain) && length <= MAX_ACCESS) {
            target.point(Nowhere.of(isWrite), 0);
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
        target.point(segment, wantedAddress - address);
        return true;
    }
}
