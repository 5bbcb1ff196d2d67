package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.queue.MemoryReference;

import java.lang.foreign.MemorySegment;

/**
 * A registered stretch of memory: what its key stands for.
 *
 * <p>A key is the identifier in the upper 24 bits and a tag in the lower 8, so that a stale key does not
 * match whoever has the identifier now.
 */
public final class RegisteredMemory {
    private final int key;
    private final Object domain;
    private final MemorySegment segment;
    private final long address;
    private final int access;

    /**
     * @param key its key
     * @param domain the protection domain it belongs to
     * @param address the address of its first byte, as requests count
     * @param access verbs.h bits of what may be done
     */
    public RegisteredMemory(int key, Object domain, MemorySegment segment, long address,
            int access) {
        this.key = key;
        this.domain = domain;
        this.segment = segment;
        this.address = address;
        this.access = access;
    }

    /** {@return the identifier of a key} */
    public static int id(int key) {
        return key >>> 8;
    }

    /** {@return its key} */
    public int key() {
        return key;
    }

    /** {@return the memory} */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Checks an access.
     *
     * @param wantedKey the key that led here
     * @param wantedDomain the protection domain it comes from
     * @param length at least 1
     * @param needed verbs.h bits that must all be there
     * @param target where the memory is, if allowed
     */
    boolean allows(int wantedKey, Object wantedDomain, long wantedAddress, long length, int needed,
            MemoryReference target) {
        long size = segment.byteSize();
        long offset = wantedAddress - address;
        boolean isInside = length > 0 && length <= size
                && Long.compareUnsigned(offset, size - length) <= 0;
        if (wantedKey != key || !domain.equals(wantedDomain) || (access & needed) != needed
                || !isInside || !segment.scope().isAlive()) {
            return false;
        }
        target.point(segment, offset);
        return true;
    }
}
