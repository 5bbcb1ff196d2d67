// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.MemoryReference;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the key of a memory window refers to: a range of a region, accessible only to the
 * peer. Immutable: binding and invalidating replace it.
 */
public final class WindowMemory implements KeyedMemory {
    /** The peer may use any queue pair of the protection domain. */
    public static final int ANY_QUEUE_PAIR = 0;

    private final int key;
    private final Object domain;
    private final int queuePair;
    private final @Nullable RegisteredMemory region;
    private final long offset;
    private final long address;
    private final long length;
    private final int access;

    private WindowMemory(int key, Object domain, int queuePair, @Nullable RegisteredMemory region,
            long offset, long address, long length, int access) {
        this.key = key;
        this.domain = domain;
        this.queuePair = queuePair;
        this.region = region;
        this.offset = offset;
        this.address = address;
        this.length = length;
        this.access = access;
    }

    /** {@return an unbound window} */
    public static WindowMemory unbound(int key, Object domain) {
        return new WindowMemory(key, domain, ANY_QUEUE_PAIR, null, 0, 0, 0, 0);
    }

    /**
     * {@return a window to a range of a region, which covers it}
     *
     * @param queuePair the only queue pair whose peer may use it, or {@link #ANY_QUEUE_PAIR}
     * @param start the address of the range in the region
     * @param address the address of the range as the peer names it
     */
    public static WindowMemory bound(int key, Object domain, int queuePair,
            RegisteredMemory region, long start, long address, long length, int access) {
        return new WindowMemory(key, domain, queuePair, region, start - region.address(), address,
                length, access);
    }

    @Override
    public int key() {
        return key;
    }

    @Override
    public long sharedAt() {
        return region == null ? NOT_SHARED : region.sharedAt();
    }

    @Override
    public boolean canVanish() {
        return region == null || region.canVanish();
    }

    @Override
    public boolean allowsPeer(int wantedKey, Object wantedDomain, int wantedQueuePair,
            long wantedAddress, long wantedLength, int needed, MemoryReference target) {
        RegisteredMemory under = region;
        boolean isInside = wantedLength > 0 && wantedLength <= length
                && Long.compareUnsigned(wantedAddress - address, length - wantedLength) <= 0;
        if (under == null || wantedKey != key || !domain.equals(wantedDomain) || !isInside
                || (queuePair != ANY_QUEUE_PAIR && queuePair != wantedQueuePair)
                || (access & needed) != needed || !under.segment().scope().isAlive()) {
            return false;
        }
        target.point(under.segment(), offset + (wantedAddress - address), this);
        return true;
    }

    @Override
    public AccessRefusal refusal(int wantedKey, Object wantedDomain, int wantedQueuePair,
            int needed) {
        RegisteredMemory under = region;
        if (under == null || wantedKey != key || !under.segment().scope().isAlive()) {
            return AccessRefusal.INVALID_KEY;
        }
        if (!domain.equals(wantedDomain)
                || (queuePair != ANY_QUEUE_PAIR && queuePair != wantedQueuePair)) {
            return AccessRefusal.OTHER_DOMAIN;
        }
        return (access & needed) == needed
                ? AccessRefusal.OUT_OF_BOUNDS
                : AccessRefusal.NOT_ALLOWED;
    }

    @Override
    public long allowsPeerWhole(int wantedKey, Object wantedDomain, int wantedQueuePair, int needed,
            MemoryReference target) {
        return allowsPeer(wantedKey, wantedDomain, wantedQueuePair, address, length, needed, target)
                ? length
                : -1;
    }
}
