package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a responder keeps of the atomics it has carried out. */
class ResponseQueueTest {
    private final ResponseQueue queue = new ResponseQueue();

    private void keep(long firstPsn, long endPsn) {
        for (long psn = firstPsn; psn < endPsn; psn++) {
            queue.keepAtomic(psn, 10 * psn);
        }
    }

    private void assertKept(long firstPsn, long endPsn) {
        for (long psn = firstPsn; psn < endPsn; psn++) {
            int index = queue.findAtomic(psn);
            assertThat(index).as("PSN %d", psn).isNotNegative();
            assertThat(queue.atomicValue(index)).isEqualTo(10 * psn);
        }
        assertThat(queue.findAtomic(firstPsn - 1)).isNegative();
        assertThat(queue.findAtomic(endPsn)).isNegative();
    }

    @Test
    void asManyResultsAreKeptAsRequestsMayBeUnderWay() {
        queue.reset(3);
        assertKept(0, 0);
        keep(0, 2);
        assertKept(0, 2);
        keep(2, 10);
        assertKept(7, 10);
    }

    @Test
    void theFirstRequestThatMayBeUnderWayAtAllIsKept() {
        queue.reset(0);
        queue.reset(1);
        keep(0, 2);
        assertKept(1, 2);
    }

    @Test
    void growingKeepsWhatWasKept() {
        queue.reset(2);
        keep(0, 5);
        queue.grow(4);
        assertKept(3, 5);
        keep(5, 7);
        assertKept(3, 7);
        queue.grow(6);
        keep(7, 8);
        assertKept(3, 8);
    }

    @Test
    @Tag("long")
    void resultsAreKeptHoweverManyAtomicsThereWere() {
        queue.reset(3);
        long many = (1L << 31) + 5;
        keep(0, many);
        assertKept(many - 3, many);
    }
}
