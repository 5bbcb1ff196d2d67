// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What is mapped, asked in both ways. */
class AddressSpaceTest {
    private final Arena arena = Arena.ofShared();

    @BeforeEach
    void requireLinux() {
        assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static void assertMissing(MemorySegment segment, boolean isMissing) {
        assertThat(AddressSpace.isListed(segment)).isEqualTo(!isMissing);
        assertThat(AddressSpace.isMissing(segment)).isEqualTo(isMissing);
    }

    @Test
    void memoryOfArenasIsThere() {
        assertMissing(arena.allocate(1), false);
        assertMissing(arena.allocate(5000, 4096), false);
        assertMissing(arena.allocate(1 << 26).asSlice(12345, 1 << 25), false);
        assertMissing(Arena.global().allocate(10_000), false);
    }

    @Test
    void whatNobodyHasMappedIsMissing() {
        assertMissing(MemorySegment.ofAddress(0x1000).reinterpret(8192), true);
    }

    @Test
    void whatIsMappedInPartIsMissing() {
        // The whole lower half of the address space cannot be mapped.
        assertMissing(MemorySegment.ofAddress(arena.allocate(4096, 4096).address())
                .reinterpret(1L << 46), true);
        assertMissing(MemorySegment.ofAddress(0x2000).reinterpret(
                arena.allocate(4096, 4096).address() + 100 - 0x2000), true);
    }
}
