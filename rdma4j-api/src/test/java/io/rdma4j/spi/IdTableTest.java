// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class IdTableTest {
    @Test
    void behavesLikeAMapThroughAnyNumberOfChanges() {
        Random random = new Random(1);
        IdTable<String> table = new IdTable<>(random::nextInt);
        Map<Integer, String> expected = new HashMap<>();
        for (int i = 0; i < 100_000; i++) {
            int id = random.nextInt(500) * 64;
            if (random.nextInt(3) == 0) {
                table.remove(id);
                expected.remove(id);
            } else {
                table.put(id, "value " + i);
                expected.put(id, "value " + i);
            }
            assertThat(table.size()).isEqualTo(expected.size());
            int looked = random.nextInt(500) * 64;
            assertThat(table.find(looked)).isEqualTo(expected.get(looked));
        }
        Map<Integer, String> found = new HashMap<>();
        expected.keySet().forEach(id -> found.put(id, String.valueOf(table.find(id))));
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void newIdsAreFreeAndNotBelowTheLowest() {
        Random random = new Random(1);
        IdTable<String> table = new IdTable<>(() -> random.nextInt(40));
        for (int i = 0; i < 20; i++) {
            int id = table.newId(16);
            assertThat(id).isGreaterThanOrEqualTo(16);
            assertThat(table.find(id)).isNull();
            table.put(id, "x");
        }
    }
}
