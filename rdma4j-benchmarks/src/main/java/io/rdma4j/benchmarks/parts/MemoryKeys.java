// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.verbs.AccessFlag;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** The check of a key, its protection domain, bounds and rights, among few and many regions. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MemoryKeys {
    private static final int LENGTH = 4096;

    private final Object domain = new Object();
    private final MemoryTable table = new MemoryTable(new Random(1)::nextInt);
    private final DomainMemory memory = new DomainMemory(table, domain, 17, () -> {});
    private final MemorySegment segment = Arena.ofAuto().allocate(LENGTH);
    private final MemoryReference target = new MemoryReference();
    private int[] keys = {};
    private int next;

    @Param({"1", "1000"})
    private int regions;

    /** Registers them. */
    @Setup
    public void register() {
        keys = new int[regions];
        int access = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit();
        for (int i = 0; i < regions; i++) {
            keys[i] = table.newKey();
            table.put(new RegisteredMemory(keys[i], domain, segment, segment.address(),
                    access));
        }
    }

    private int key() {
        next = next + 1 < keys.length ? next + 1 : 0;
        return keys[next];
    }

    /** As a sender that gathers payload. */
    @Benchmark
    public boolean local() {
        return memory.local(key(), segment.address(), LENGTH, false, target);
    }

    /** As a receiver of a WRITE. */
    @Benchmark
    public boolean remote() {
        return memory.remote(key(), segment.address(), LENGTH, AccessFlag.REMOTE_WRITE, target);
    }
}
