// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Registered memory: stretches of addresses, each behind one key for both sides. */
public final class Regions implements Memory {
    /** Creates memory without any. */
    public Regions() {}

    private record Region(long address, MemorySegment memory, Set<AccessFlag> access,
            boolean isForeign) {
        boolean covers(long from, long length) {
            return from >= address && length <= memory.byteSize()
                    && from - address <= memory.byteSize() - length;
        }

        boolean allows(@Nullable AccessFlag needed) {
            return !isForeign && (needed == null || access.contains(needed));
        }
    }

    /** The bind and invalidation requests that were carried out, all with the same outcome. */
    public final List<Long> carriedOut = new ArrayList<>();
    public WorkCompletionStatus localOutcome = WorkCompletionStatus.SUCCESS;
    /** The keys that the peer may invalidate. */
    public final Set<Integer> windowKeys = new HashSet<>();
    private final Map<Integer, Region> byKey = new HashMap<>();

    public void register(int key, long address, MemorySegment memory, Set<AccessFlag> access) {
        byKey.put(key, new Region(address, memory, access, false));
    }

    /** Registers memory in another protection domain. */
    public void registerElsewhere(int key, long address, MemorySegment memory,
            Set<AccessFlag> access) {
        byKey.put(key, new Region(address, memory, access, true));
    }

    public void close(int key) {
        byKey.remove(key);
    }

    @Override
    public boolean local(int lkey, long address, long length, boolean isWrite,
            MemoryReference target) {
        return find(lkey, address, length, isWrite ? AccessFlag.LOCAL_WRITE : null, target);
    }

    @Override
    public boolean remote(int rkey, long address, long length, AccessFlag needed,
            MemoryReference target) {
        return find(rkey, address, length, needed, target);
    }

    private boolean find(int key, long address, long length, @Nullable AccessFlag needed,
            MemoryReference target) {
        Region region = byKey.get(key);
        if (region == null || !region.covers(address, length) || !region.allows(needed)) {
            return false;
        }
        target.point(region.memory, address - region.address);
        return true;
    }

    @Override
    public AccessRefusal refusal(int rkey, AccessFlag needed) {
        Region region = byKey.get(rkey);
        if (region == null) {
            return AccessRefusal.INVALID_KEY;
        }
        if (region.isForeign) {
            return AccessRefusal.OTHER_DOMAIN;
        }
        return region.access.contains(needed)
                ? AccessRefusal.OUT_OF_BOUNDS
                : AccessRefusal.NOT_ALLOWED;
    }

    @Override
    public long remoteWhole(int rkey, AccessFlag needed, MemoryReference target) {
        Region region = byKey.get(rkey);
        if (region == null || !region.allows(needed)) {
            return -1;
        }
        target.point(region.memory, 0);
        return region.memory.byteSize();
    }

    @Override
    public WorkCompletionStatus carryOut(SendRequest request) {
        carriedOut.add(request.id());
        return localOutcome;
    }

    @Override
    public boolean invalidate(int rkey) {
        return windowKeys.remove(rkey);
    }
}
