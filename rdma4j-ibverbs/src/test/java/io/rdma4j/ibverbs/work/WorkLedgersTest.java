// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** What stands in the upper bits of a {@code wr_id}. */
class WorkLedgersTest {
    private final WorkLedgers ledgers = new WorkLedgers();

    /** Some drivers keep completions of a queue pair that was closed until they are polled. */
    @Test
    void lateCompletionOfAClosedQueueIsOfNoOther() {
        long late = ledgers.add(new OutstandingWork(4)) | 1;
        ledgers.remove(late & ~WorkLedgers.NUMBERS);
        Set<Long> tags = new HashSet<>();
        for (int i = 0; i < 60_000; i++) {
            long tag = ledgers.add(new OutstandingWork(4));
            assertThat(tags.add(tag)).isTrue();
            assertThat(ledgers.of(late)).isNull();
            ledgers.remove(tag);
        }
    }

    @Test
    void eachOfManyQueuesIsFoundByItsRequests() {
        List<OutstandingWork> queues = new ArrayList<>();
        List<Long> tags = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            queues.add(new OutstandingWork(4));
            tags.add(ledgers.add(queues.getLast()));
        }
        for (int i = 0; i < 1000; i++) {
            long number = queues.get(i).note(0, i, WorkCompletionOpcode.SEND, true);
            assertThat(ledgers.of(tags.get(i) | number)).isSameAs(queues.get(i));
        }
    }

    @Test
    void requestsAreNumberedOnBeyondTheBitsOfANumber() {
        OutstandingWork work = new OutstandingWork(4);
        WorkLedger.Completed completed = new WorkLedger.Completed();
        work.commit(Integer.MAX_VALUE);
        work.commit(Integer.MAX_VALUE);
        work.commit(1);
        work.clear();
        // The last of 32 bits, and the first anew.
        long last = work.note(0, 1, WorkCompletionOpcode.SEND, true);
        long first = work.note(1, 2, WorkCompletionOpcode.RDMA_READ, true);
        assertThat(last).isEqualTo(WorkLedgers.NUMBERS);
        assertThat(first).isZero();
        work.commit(2);
        assertThat(work.complete(last, completed)).isTrue();
        assertThat(completed.id).isEqualTo(1);
        assertThat(work.complete(first, completed)).isTrue();
        assertThat(completed.id).isEqualTo(2);
        assertThat(work.complete(last, completed)).isFalse();
    }
}
