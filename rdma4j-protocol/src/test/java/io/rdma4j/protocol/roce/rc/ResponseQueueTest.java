// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a responder keeps of the atomics it has carried out, and the answers that wait to be sent. */
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
    void anotherConnectionFindsNoResults() {
        queue.reset(4);
        keep(0, 3);
        queue.reset(4);
        assertThat(queue.findAtomic(1)).isNegative();
        keep(5, 7);
        assertKept(5, 7);
        queue.reset(2);
        assertThat(queue.findAtomic(5)).isNegative();
    }

    // ---------------------------------------------------------------- what waits

    private void add(boolean isReplay, long firstPsn, long endPsn) {
        ResponseQueue.Response response = queue.add(isReplay);
        response.firstPsn = firstPsn;
        response.nextPsn = firstPsn;
        response.endPsn = endPsn;
    }

    @Test
    void packetsOfAResponseWaitUntilTheyAreSent() {
        queue.reset(2);
        add(false, 10, 13);
        assertThat(queue.isPending(9)).isFalse();
        assertThat(queue.isPending(10)).isTrue();
        assertThat(queue.isPending(12)).isTrue();
        assertThat(queue.isPending(13)).isFalse();
        queue.head().nextPsn = 12;
        assertThat(queue.isPending(11)).isFalse();
        assertThat(queue.isPending(12)).isTrue();
        queue.removeHead();
        assertThat(queue.isPending(12)).isFalse();
    }

    @Test
    void repeatedRequestsTakeRoomButCountAsNoOriginals() {
        queue.reset(2);
        assertThat(queue.isEmpty()).isTrue();
        add(false, 0, 1);
        add(true, 1, 2);
        add(false, 2, 3);
        assertThat(queue.originals()).isEqualTo(2);
        assertThat(queue.isFull()).isFalse();
        add(true, 3, 4);
        assertThat(queue.isFull()).isTrue();
        queue.removeHead();
        assertThat(queue.originals()).isOne();
        queue.removeHead();
        assertThat(queue.originals()).isOne();
        queue.clear();
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.originals()).isZero();
    }

    @Test
    void responsesStayInOrderWhenTheQueueGrows() {
        queue.reset(2);
        add(false, 0, 1);
        add(false, 1, 2);
        queue.removeHead();
        queue.removeHead();
        // They lie across the end of the ring.
        for (int psn = 2; psn < 6; psn++) {
            add(psn % 2 == 0, psn, psn + 1);
        }
        queue.grow(4);
        add(false, 6, 7);
        assertThat(queue.isFull()).isFalse();
        for (int psn = 2; psn < 7; psn++) {
            assertThat(queue.isPending(psn)).isTrue();
            assertThat(queue.head().firstPsn).isEqualTo(psn);
            queue.removeHead();
        }
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void fewerThanBeforeChangeNothing() {
        queue.reset(2);
        keep(0, 2);
        add(false, 0, 1);
        queue.grow(1);
        assertKept(0, 2);
        for (int psn = 1; psn < 4; psn++) {
            assertThat(queue.isFull()).isFalse();
            add(false, psn, psn + 1);
        }
        assertThat(queue.isFull()).isTrue();
    }

    @Test
    void nothingWaitsInAnotherConnection() {
        queue.reset(2);
        add(false, 0, 1);
        queue.reset(2);
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.originals()).isZero();
        assertThat(queue.isPending(0)).isFalse();
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
