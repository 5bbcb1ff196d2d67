// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs by their next deadline, against a list that is searched. */
class DeadlineHeapTest {
    private final Engine engine = new Engine(new Random(1)::nextInt, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, () -> 0, null, () -> {});
    private final DeadlineHeap heap = new DeadlineHeap();
    private final List<PostedQueuePair> all = new ArrayList<>();

    private PostedQueuePair add(long deadlineNs) {
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        all.add(queuePair);
        heap.update(queuePair, deadlineNs);
        return queuePair;
    }

    private long earliestNs() {
        return all.stream().mapToLong(each -> each.deadlineNs).min().orElse(DeadlineHeap.NEVER);
    }

    @Test
    void earliestIsKnownWhateverChanges() {
        Random random = new Random(49);
        for (int i = 0; i < 40; i++) {
            add(random.nextInt(1000));
        }
        for (int i = 0; i < 20_000; i++) {
            PostedQueuePair changed = all.get(random.nextInt(all.size()));
            switch (random.nextInt(8)) {
                case 0 -> heap.forget(changed);
                case 1 -> heap.update(changed, DeadlineHeap.NEVER);
                default -> heap.update(changed, i + random.nextInt(1000));
            }
            if (random.nextInt(3) == 0) {
                assertThat(heap.earliestNs()).isEqualTo(earliestNs());
            }
            if (random.nextInt(3) == 0) {
                long nowNs = earliestNs() + random.nextInt(3) - 1;
                EngineQueuePair due = heap.due(nowNs);
                if (earliestNs() <= nowNs) {
                    assertThat(due).isNotNull().extracting(each -> each.deadlineNs)
                            .isEqualTo(earliestNs());
                } else {
                    assertThat(due).isNull();
                }
            }
        }
    }

    @Test
    void oneWithoutADeadlineIsForgotten() {
        PostedQueuePair only = add(5);
        heap.update(only, DeadlineHeap.NEVER);
        assertThat(heap.due(10)).isNull();
        assertThat(heap.earliestNs()).isEqualTo(DeadlineHeap.NEVER);
        assertThat(only.heapIndex).isNegative();
    }
}
