// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class SharedTableTest {
    private static final int OWN = 200;
    private static final long RACE_NS = 300_000_000;

    /** Packets are handed to the process of a place without the lock, however often others join and leave meanwhile. */
    @Test
    void whoHasAPlaceIsSeenThereWhileOthersChange() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            SharedTable table = new SharedTable(arena.allocate(SharedTable.LENGTH, 4096));
            table.clear();
            int group = table.begin(Gid.of(InetAddress.ofLiteral("127.0.0.1")), 0);
            table.places(group, List.of(OWN));
            long untilNs = System.nanoTime() + RACE_NS;
            Thread changing = Thread.ofPlatform().start(() -> {
                for (int round = 0; System.nanoTime() - untilNs < 0; round++) {
                    // At the beginning, at the end, among few, among many.
                    List<Integer> places = new ArrayList<>(
                            IntStream.rangeClosed(1, round % 3 * 60).boxed().toList());
                    places.add(round % 2 == 0 ? 0 : places.size(), OWN);
                    table.places(group, places);
                }
            });
            int looks = 0;
            int misses = 0;
            while (changing.isAlive()) {
                looks++;
                misses += table.hasPlace(group, OWN) && table.places(group).contains(OWN) ? 0 : 1;
            }
            changing.join();
            assertThat(misses).as("of %d looks", looks).isZero();
            assertThat(looks).isGreaterThan(100);
        }
    }

    /** Requests are handed to the process that listens without the lock, however often others stop to listen meanwhile. */
    @Test
    void whoListensIsSeenWhileOthersStop() throws Exception {
        int others = 50;
        int service = 0x0106_0000 | 7471;
        try (Arena arena = Arena.ofShared()) {
            SharedTable table = new SharedTable(arena.allocate(SharedTable.LENGTH, 4096));
            long untilNs = System.nanoTime() + RACE_NS;
            // Odd while the service is in the table.
            AtomicInteger round = new AtomicInteger();
            Thread changing = Thread.ofPlatform().start(() -> {
                while (System.nanoTime() - untilNs < 0) {
                    table.clear();
                    IntStream.range(0, others).forEach(i -> table.enterService(i, OWN + 1, true));
                    table.enterService(service, OWN, true);
                    round.incrementAndGet();
                    // Each time the last entry takes the place of one before it.
                    IntStream.range(0, others).forEach(i -> table.removeService(i, OWN + 1));
                    round.incrementAndGet();
                }
            });
            int looks = 0;
            int misses = 0;
            while (changing.isAlive()) {
                int before = round.get();
                boolean isSeen = table.listeners(service).contains(OWN);
                if (before % 2 == 1 && before == round.get()) {
                    looks++;
                    misses += isSeen ? 0 : 1;
                }
            }
            changing.join();
            assertThat(misses).as("of %d looks", looks).isZero();
            assertThat(looks).isGreaterThan(100);
        }
    }

    @Test
    void listOfPlacesIsReplacedAsAWhole() {
        try (Arena arena = Arena.ofConfined()) {
            SharedTable table = new SharedTable(arena.allocate(SharedTable.LENGTH, 4096));
            table.clear();
            int group = table.begin(Gid.of(InetAddress.ofLiteral("127.0.0.1")), 0);
            for (List<Integer> places : List.of(List.of(3, 254, 7), List.of(9), List.of(1, 2),
                    List.<Integer>of())) {
                table.places(group, places);
                assertThat(table.places(group)).isEqualTo(places);
                assertThat(table.hasPlace(group, 254)).isEqualTo(places.contains(254));
            }
            assertThat(table.used()).isEmpty();
        }
    }
}
