// SPDX-License-Identifier: Apache-2.0
package pyverbs;

import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.ProtectionDomain;

import org.graalvm.polyglot.Value;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The allocator of a parent domain, written in Python. */
public final class PythonAllocator implements BufferAllocator {
    private final Value allocate;
    private final Value free;
    private volatile long theirs;

    public PythonAllocator(Value allocate, Value free) {
        this.allocate = allocate;
        this.free = free;
    }

    @Override
    public MemorySegment allocate(ProtectionDomain domain, long byteSize, long byteAlignment) {
        long address = allocate.execute(byteSize, byteAlignment).asLong();
        if (address == -1) {
            return Arena.ofAuto().allocate(byteSize, byteAlignment);
        }
        return address == 0 ? null : MemorySegment.ofAddress(address).reinterpret(byteSize);
    }

    @Override
    public void free(ProtectionDomain domain, MemorySegment memory) {
        free.executeVoid(memory.address());
    }
}
