// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.spi.IdTable;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

/** The registered memory of a device that one queue pair may access. */
public final class DomainMemory implements Memory {
    private final MemoryTable table;
    private final IdTable<KeyedMemory> byKey;
    private final Object domain;
    private final int queuePair;
    private final Runnable beforeAccess;

    /**
     * @param domain the protection domain
     * @param queuePair the queue pair's number
     * @param beforeAccess called before memory is handed out that can vanish
     */
    public DomainMemory(MemoryTable table, Object domain, int queuePair, Runnable beforeAccess) {
        this.beforeAccess = beforeAccess;
        this.table = table;
        byKey = table.byKey();
        this.domain = domain;
        this.queuePair = queuePair;
    }

    @Override
    public boolean local(int lkey, long address, long length, boolean isWrite,
            MemoryReference target) {
        return byKey.find(KeyedMemory.id(lkey)) instanceof RegisteredMemory region
                && region.allowsLocal(lkey, domain, address, length, isWrite, target)
                && prepare(region);
    }

    /** {@return true} */
    private boolean prepare(KeyedMemory memory) {
        if (memory.canVanish()) {
            beforeAccess.run();
        }
        return true;
    }

    @Override
    public boolean remote(int rkey, long address, long length, AccessFlag needed,
            MemoryReference target) {
        KeyedMemory memory = byKey.find(KeyedMemory.id(rkey));
        return memory != null && memory.allowsPeer(rkey, domain, queuePair, address, length,
                needed.bit(), target) && prepare(memory);
    }

    @Override
    public AccessRefusal refusal(int rkey, AccessFlag needed) {
        KeyedMemory memory = byKey.find(KeyedMemory.id(rkey));
        return memory == null
                ? AccessRefusal.INVALID_KEY
                : memory.refusal(rkey, domain, queuePair, needed.bit());
    }

    @Override
    public long remoteWhole(int rkey, AccessFlag needed, MemoryReference target) {
        KeyedMemory memory = byKey.find(KeyedMemory.id(rkey));
        if (memory == null) {
            return -1;
        }
        prepare(memory);
        return memory.allowsPeerWhole(rkey, domain, queuePair, needed.bit(), target);
    }

    @Override
    public WorkCompletionStatus carryOut(SendRequest request) {
        if (request.opcode() == SendOpcode.LOCAL_INVALIDATE) {
            return invalidate(request.invalidateRkey())
                    ? WorkCompletionStatus.SUCCESS
                    : WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR;
        }
        MemoryWindow window = request.window();
        MemoryWindowBind bind = request.windowBind();
        return window == null || bind == null
                ? WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR
                : table.bind(window, request.windowRkey(), bind, domain, queuePair);
    }

    @Override
    public boolean invalidate(int rkey) {
        return table.invalidate(rkey, queuePair);
    }
}
