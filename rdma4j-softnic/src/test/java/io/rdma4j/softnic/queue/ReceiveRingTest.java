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
        ReceiveRequest slot = ring.free();
        if (slot == null) {
            return false;
        }
        slot.assign(new ReceiveWorkRequest().id(posted++));
        ring.post();
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

    @Test
    void slotThatIsNotPostedIsNotTaken() {
        assertThat(ring.free()).isNotNull();
        assertThat(ring.take()).isNull();
        assertThat(ring.isOutstanding()).isFalse();
    }

    @Test
    void noOtherQueuePairTakesFromIt() {
        assertThat(ring.isShared()).isFalse();
    }
}
