package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.queue.Memory;
import io.rdma4j.protocol.queue.MemoryReference;
import io.rdma4j.verbs.AccessFlag;

/** A device's registered memory as the queue pairs of one protection domain may see it. */
public final class DomainMemory implements Memory {
    private final IdTable<RegisteredMemory> regions;
    private final Object domain;

    /** @param domain the protection domain */
    public DomainMemory(IdTable<RegisteredMemory> regions, Object domain) {
        this.regions = regions;
        this.domain = domain;
    }

    @Override
    public boolean local(int lkey, long address, long length, boolean isWrite,
            MemoryReference target) {
        return allows(lkey, address, length, isWrite ? AccessFlag.LOCAL_WRITE.bit() : 0, target);
    }

    @Override
    public boolean remote(int rkey, long address, long length, AccessFlag needed,
            MemoryReference target) {
        return allows(rkey, address, length, needed.bit(), target);
    }

    private boolean allows(int key, long address, long length, int needed, MemoryReference target) {
        RegisteredMemory region = regions.find(RegisteredMemory.id(key));
        return region != null && region.allows(key, domain, address, length, needed, target);
    }
}
