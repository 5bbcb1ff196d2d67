// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.softnic.Race;
import io.rdma4j.spi.IdTable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** One thread changes the table while others look: they see each object before or after a change. */
@Tag("stress")
class IdTableRaceTest {
    private static final int KEPT = 40;
    private static final int CHANGING = 400;

    /** Its fields are written without any ordering of their own, as those of registered memory are. */
    private static final class Entry {
        int id;
        int twice;

        Entry(int id) {
            this.id = id;
            twice = 2 * id;
        }
    }

    private static int id(int index) {
        return index * 37 & 0xff_ffff;
    }

    @Test
    void readersFindWhatIsThereAndNothingElse() throws Exception {
        IdTable<Entry> table = new IdTable<>(() -> 0);
        for (int i = 0; i < KEPT; i++) {
            table.put(id(i), new Entry(id(i)));
        }
        Race race = new Race();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("writer", () -> {
            Random random = new Random(1);
            while (!race.isOver()) {
                int id = id(random.nextInt(KEPT + CHANGING));
                if (id < id(KEPT) || random.nextBoolean()) {
                    table.put(id, new Entry(id));
                } else {
                    table.remove(id);
                }
            }
            isEnded.set(true);
        });
        for (int reader = 0; reader < 2; reader++) {
            int seed = reader;
            race.once("reader " + reader, () -> {
                Random random = new Random(seed);
                while (!isEnded.get() && !race.hasFailed()) {
                    int index = random.nextInt(2 * (KEPT + CHANGING));
                    Entry entry = table.find(id(index));
                    if (entry == null) {
                        assertThat(index).isGreaterThanOrEqualTo(KEPT);
                    } else {
                        assertThat(index).isLessThan(KEPT + CHANGING);
                        assertThat(entry.id).isEqualTo(id(index));
                        assertThat(entry.twice).isEqualTo(2 * id(index));
                    }
                }
            });
        }
        race.run();
    }
}
