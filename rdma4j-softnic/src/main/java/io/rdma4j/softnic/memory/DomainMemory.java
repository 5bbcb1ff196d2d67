package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.verbs.AccessFlag;

/** A device's registered memory as one queue pair may see it. */
public final class DomainMemory implements Memory {
    private final IdTable<KeyedMemory> table;
    private final Object domain;
    private final int queuePair;

    /**
     * @param domain the protection domain
     * @param queuePair the queue pair's number
     */
    public DomainMemory(IdTable<KeyedMemory> table, Object domain, int queuePair) {
        this.table = table;
        this.domain = domain;
        this.queuePair = queuePair;
    }

    @Override
    public boolean local(int lkey, long address, long length, boolean isWrite,
            MemoryReference target) {
        return table.find(KeyedMemory.id(lkey)) instanceof RegisteredMemory region
                && region.allowsLocal(lkey, domain, address, length, isWrite, target);
    }

    @Override
    public boolean remote(int rkey, long address, long length, AccessFlag needed,
            MemoryReference target) {
        KeyedMemory memory = table.find(KeyedMemory.id(rkey));
        return memory != null && memory.allowsPeer(rkey, domain, queuePair, address, length,
                needed.bit(), target);
    }

    @Override
    public long remoteWhole(int rkey, AccessFlag needed, MemoryReference target) {
        KeyedMemory memory = table.find(KeyedMemory.id(rkey));
        return memory == null
                ? -1
                : memory.allowsPeerWhole(rkey, domain, queuePair, needed.bit(), target);
    }
}
