// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair's own receive queue: what the engine gets, and when there is room again. */
class ReceiveRingTest {
    private ReceiveRing ring = new ReceiveRing(4, 1);
    private long posted;

    private boolean post() {
        if (!ring.post(new ReceiveWorkRequest().id(posted))) {
            return false;
        }
        posted++;
        return true;
    }

    private ReceiveRequest take() {
        return Objects.requireNonNull(ring.take());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 9})
    void ringHoldsJustWhatItShouldHoweverOftenItGoesRound(int capacity) {
        ring = new ReceiveRing(capacity, 1);
        long released = 0;
        Deque<ReceiveRequest> taken = new ArrayDeque<>();
        for (int round = 0; round < 20; round++) {
            while (post()) {
                assertThat(ring.isOutstanding()).isTrue();
            }
            assertThat(posted - released).isEqualTo(capacity);
            while (ring.available() > 0) {
                taken.add(take());
            }
            assertThat(ring.take()).isNull();
            for (int i = 0; i <= round % capacity; i++) {
                ReceiveRequest oldest = taken.remove();
                assertThat(oldest.id()).isEqualTo(released++);
                ring.release(oldest);
            }
        }
    }

    @Test
    void requestTakesRoomUntilItIsReleased() {
        for (int i = 0; i < 4; i++) {
            assertThat(post()).isTrue();
        }
        assertThat(ring.available()).isEqualTo(4);
        ReceiveRequest first = take();
        assertThat(ring.available()).isEqualTo(3);
        assertThat(post()).isFalse();
        ring.release(first);
        assertThat(post()).isTrue();
        assertThat(ring.available()).isEqualTo(4);
    }

    @Test
    void requestIsOutstandingUntilItIsReleased() {
        assertThat(ring.isOutstanding()).isFalse();
        assertThat(post()).isTrue();
        ReceiveRequest taken = take();
        assertThat(ring.available()).isZero();
        assertThat(ring.isOutstanding()).isTrue();
        ring.release(taken);
        assertThat(ring.isOutstanding()).isFalse();
    }

    /** Elements of requests that were there before the first with one, and before the queue had to grow. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 8, 20})
    void eachRequestKeepsItsOwnElements(int without) {
        ring = new ReceiveRing(100, 3);
        int count = 100;
        for (int i = 0; i < count; i++) {
            ReceiveWorkRequest request = new ReceiveWorkRequest().id(i);
            for (int element = 0; element < elements(i, without); element++) {
                request.add(element, 1000 * i + element, i);
            }
            assertThat(ring.post(request)).isTrue();
        }
        for (int i = 0; i < count; i++) {
            ReceiveRequest taken = take();
            assertThat(taken.id()).isEqualTo(i);
            long expected = 0;
            for (int element = 0; element < elements(i, without); element++) {
                expected += 1000L * i + element;
            }
            assertThat(taken.capacity()).isEqualTo(expected);
            ring.release(taken);
        }
    }

    private static int elements(int request, int without) {
        return request < without ? 0 : request % 4;
    }

    @Test
    void requestThatIsPostedIntoASlotHasNothingOfTheOneBefore() {
        ring = new ReceiveRing(1, 2);
        assertThat(ring.post(new ReceiveWorkRequest().add(0, 5, 1).add(0, 6, 1))).isTrue();
        ring.release(take());
        assertThat(ring.post(new ReceiveWorkRequest().add(0, 7, 1))).isTrue();
        ReceiveRequest second = take();
        assertThat(second.capacity()).isEqualTo(7);
        ring.release(second);
        assertThat(ring.post(new ReceiveWorkRequest())).isTrue();
        assertThat(take().capacity()).isZero();
    }

    @Test
    void noOtherQueuePairTakesFromIt() {
        assertThat(ring.isShared()).isFalse();
    }
}
