// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** A shared receive queue: who gets its requests, which queue pairs wait for them, and when its owner is told of their lack. */
class SharedReceiveRingTest {
    private final SharedReceiveRing ring = new SharedReceiveRing(4, 1, this::onLimit);
    private final ReceiveQueue first = ring.view();
    private final ReceiveQueue second = ring.view();
    private int calls;
    private long posted;

    private void onLimit() {
        calls++;
    }

    private boolean post() {
        return ring.post(new ReceiveWorkRequest().id(posted++));
    }

    private void post(int count) {
        for (int i = 0; i < count; i++) {
            assertThat(post()).isTrue();
        }
    }

    private static long take(ReceiveQueue queue) {
        return Objects.requireNonNull(queue.take()).id();
    }

    // ---------------------------------------------------------------- room and order

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 9})
    void ringHoldsJustWhatItShouldHoweverOftenItGoesRound(int capacity) {
        SharedReceiveRing sized = new SharedReceiveRing(capacity, 1, () -> {});
        assertThat(sized.capacity()).isEqualTo(capacity);
        ReceiveQueue view = sized.view();
        long taken = 0;
        for (int round = 0; round < 20; round++) {
            while (sized.post(new ReceiveWorkRequest().id(posted))) {
                posted++;
            }
            assertThat(posted - taken).isEqualTo(capacity);
            assertThat(sized.available()).isEqualTo(capacity);
            for (int i = 0; i <= round % capacity; i++) {
                assertThat(take(view)).isEqualTo(taken++);
            }
        }
    }

    @Test
    void eachRequestGoesToOneQueuePairAndMayEndInAnyOrder() {
        post(3);
        ReceiveRequest one = Objects.requireNonNull(first.take());
        ReceiveRequest two = Objects.requireNonNull(second.take());
        assertThat(one.id()).isZero();
        assertThat(two.id()).isEqualTo(1);
        second.release(two);
        post(3);
        // What was posted into its place in the ring has not changed what is held.
        assertThat(one.id()).isZero();
        first.release(one);
        assertThat(take(second)).isEqualTo(2);
    }

    @Test
    void requestThatIsTakenHasLeftTheRing() {
        post(4);
        assertThat(post()).isFalse();
        take(first);
        assertThat(ring.available()).isEqualTo(3);
        assertThat(first.available()).isEqualTo(3);
        assertThat(post()).isTrue();
        assertThat(post()).isFalse();
    }

    @Test
    void viewsSayThatOthersTakeFromTheSameQueue() {
        assertThat(first.isShared()).isTrue();
    }

    // ---------------------------------------------------------------- who waits

    @Test
    void nobodyWaitsWhoHasFoundARequest() {
        post(2);
        take(first);
        assertThat(second.available()).isEqualTo(1);
        assertThat(ring.takeStarved()).isFalse();
        take(first);
        assertThat(ring.takeStarved()).isFalse();
    }

    @Test
    void waitingIsToldOnce() {
        assertThat(first.take()).isNull();
        assertThat(ring.takeStarved()).isTrue();
        assertThat(ring.takeStarved()).isFalse();
    }

    @Test
    void whoeverComesTooLateForARequestIsToldOfTheNext() {
        assertThat(first.take()).isNull();
        assertThat(second.take()).isNull();
        ring.post(new ReceiveWorkRequest());
        assertThat(first.take()).isNotNull();
        assertThat(ring.takeStarved()).isTrue();
        // Told of the request, the second looks, and goes on waiting.
        assertThat(second.available()).isZero();
        ring.post(new ReceiveWorkRequest());
        assertThat(ring.takeStarved()).isTrue();
    }

    // ---------------------------------------------------------------- the limit

    @Test
    void ownerIsToldOnceWhenFewerThanTheLimitAreLeft() {
        post(4);
        ring.arm(2);
        assertThat(ring.limit()).isEqualTo(2);
        take(first);
        take(first);
        assertThat(calls).isZero();
        take(second);
        assertThat(calls).isEqualTo(1);
        assertThat(ring.limit()).isZero();
        take(second);
        assertThat(calls).isEqualTo(1);
    }

    /** As ibv_modify_srq: a limit above what there is has been reached already. */
    @Test
    void limitThatIsNotReachedWhenItIsArmedIsToldAtOnce() {
        post(1);
        ring.arm(2);
        assertThat(calls).isEqualTo(1);
        assertThat(ring.limit()).isZero();
    }

    @Test
    void limitThatIsTakenBackIsNotTold() {
        post(3);
        ring.arm(3);
        ring.arm(0);
        take(first);
        assertThat(calls).isZero();
        assertThat(ring.limit()).isZero();
    }

    @Test
    void limitOfOneIsToldWithTheLastRequest() {
        post(1);
        ring.arm(1);
        assertThat(calls).isZero();
        take(first);
        assertThat(calls).isEqualTo(1);
    }

    // ---------------------------------------------------------------- resizing

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 16})
    void resizingKeepsRequestsAndTheirOrder(int capacity) {
        // The oldest is in the middle of the slots.
        post(3);
        for (int i = 0; i < 3; i++) {
            take(first);
        }
        post(3);
        assertThat(ring.resize(capacity)).isTrue();
        assertThat(ring.capacity()).isEqualTo(capacity);
        post(capacity - 3);
        assertThat(post()).isFalse();
        for (int i = 0; i < capacity; i++) {
            assertThat(take(second)).isEqualTo(3 + i);
        }
        assertThat(second.take()).isNull();
    }

    @Test
    void ringIsNotResizedBelowWhatItHolds() {
        post(3);
        assertThat(ring.resize(2)).isFalse();
        assertThat(ring.capacity()).isEqualTo(4);
        take(first);
        assertThat(ring.resize(2)).isTrue();
        assertThat(post()).isFalse();
        assertThat(take(first)).isEqualTo(1);
    }
}
