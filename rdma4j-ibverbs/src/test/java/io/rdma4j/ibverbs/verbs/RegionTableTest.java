// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.RegionTable;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class RegionTableTest {
    private static final int COUNT = 1_000;

    private final RegionTable table = new RegionTable();
    private final NativeMemoryRegion[] regions = new NativeMemoryRegion[COUNT];

    RegionTableTest() throws RdmaException {
        NativeProtectionDomain domain = (NativeProtectionDomain) new FakeDriver().open()
                .allocateProtectionDomain();
        MemorySegment memory = Arena.global().allocate(8);
        for (int i = 0; i < COUNT; i++) {
            regions[i] = (NativeMemoryRegion) domain.register(memory,
                    Set.of(AccessFlag.LOCAL_WRITE));
        }
    }

    /** Drivers give keys one after the other, or with a counter of uses in the lower bits; 0 and -1 are keys as well. */
    @Test
    void regionIsFoundByItsKeyUntilItIsRemoved() {
        for (int step : new int[]{1, 1 << 8, 1 << 22, 0x1_0001}) {
            for (int i = 0; i < COUNT; i++) {
                table.put((i - 1) * step, regions[i]);
            }
            for (int i = 0; i < COUNT; i += 2) {
                table.remove((i - 1) * step, regions[i]);
            }
            for (int i = 0; i < COUNT; i++) {
                assertThat(table.find((i - 1) * step)).as("step %d, region %d", step, i)
                        .isSameAs(i % 2 == 0 ? null : regions[i]);
            }
            for (int i = 1; i < COUNT; i += 2) {
                table.remove((i - 1) * step, regions[i]);
            }
        }
    }

    @Test
    void keyThatIsGivenAgainIsThatOfTheNewRegion() {
        table.put(5, regions[0]);
        table.put(5, regions[1]);
        table.remove(5, regions[0]);
        assertThat(table.find(5)).isSameAs(regions[1]);
    }

    @Test
    void regionsThatComeAndGoLeaveRoom() {
        table.put(7, regions[0]);
        for (int i = 0; i < 100_000; i++) {
            table.put(100 + i, regions[1]);
            table.remove(100 + i, regions[1]);
        }
        assertThat(table.find(7)).isSameAs(regions[0]);
        assertThat(table.find(100)).isNull();
    }
}
