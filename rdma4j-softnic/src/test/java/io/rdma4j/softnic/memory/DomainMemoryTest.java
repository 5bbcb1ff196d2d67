// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.verbs.AccessFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Who accesses memory that an application can close is told so before, and only then. */
class DomainMemoryTest {
    private static final int KEY = 0x1234_00;
    private static final int ALL = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit()
            | AccessFlag.REMOTE_READ.bit();

    private final MemoryTable table = new MemoryTable(() -> 1);
    private final AtomicInteger told = new AtomicInteger();
    private final DomainMemory memory = new DomainMemory(table, this, 7, told::incrementAndGet);
    private final MemoryReference place = new MemoryReference();

    private MemorySegment register(Arena arena, boolean isOwn) {
        MemorySegment segment = arena.allocate(64);
        table.put(new RegisteredMemory(KEY, this, segment, 0, ALL, Registration.NOT_SHARED,
                !isOwn && RegisteredMemory.canVanish(segment)));
        return segment;
    }

    @Test
    void itSaysSoForEachKindOfAccess() {
        try (Arena arena = Arena.ofShared()) {
            register(arena, false);
            assertThat(memory.local(KEY, 0, 64, true, place)).isTrue();
            assertThat(told).hasValue(1);
            assertThat(memory.remote(KEY, 0, 64, AccessFlag.REMOTE_WRITE, place)).isTrue();
            assertThat(told).hasValue(2);
            assertThat(memory.remoteWhole(KEY, AccessFlag.REMOTE_READ, place)).isEqualTo(64);
            assertThat(told).hasValue(3);
        }
    }

    @Test
    void whatIsRefusedIsNotAccessed() {
        try (Arena arena = Arena.ofShared()) {
            register(arena, false);
            assertThat(memory.local(KEY, 0, 65, true, place)).isFalse();
            assertThat(memory.local(KEY + 1, 0, 1, true, place)).isFalse();
            assertThat(memory.remote(KEY, 0, 64, AccessFlag.REMOTE_ATOMIC, place)).isFalse();
            assertThat(told).hasValue(0);
        }
    }

    @Test
    void memoryOfTheDeviceOnlyItsOwnerCloses() {
        try (Arena arena = Arena.ofShared()) {
            register(arena, true);
            assertThat(memory.local(KEY, 0, 64, false, place)).isTrue();
            assertThat(memory.remote(KEY, 0, 64, AccessFlag.REMOTE_READ, place)).isTrue();
            assertThat(told).hasValue(0);
        }
    }

    @Test
    void memoryThatLivesForeverIsNeverClosed() {
        register(Arena.global(), false);
        assertThat(memory.local(KEY, 0, 64, false, place)).isTrue();
        assertThat(told).hasValue(0);
        register(Arena.ofAuto(), false);
        assertThat(memory.local(KEY, 0, 64, false, place)).isTrue();
        assertThat(told).hasValue(1);
    }
}
