// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** An object ends only while no event of it is taken, and none is taken once it has ended. */
@Timeout(60)
class UnacknowledgedEventsTest {
    private final UnacknowledgedEvents object = new UnacknowledgedEvents();
    private final EventQueue<Integer, RdmaException> events = Events.queue();

    private void publish(int event, UnacknowledgedEvents of) {
        events.publish(new EventQueue.Published<>(event, of));
    }

    @Test
    void takenEventKeepsItsObjectFromEnding() throws Exception {
        publish(1, object);
        assertThat(events.take()).isEqualTo(1);
        assertThat(object.count()).isEqualTo(1);
        assertThat(object.end()).isFalse();
        assertThat(object.acknowledge(2)).isFalse();
        assertThat(object.acknowledge(1)).isTrue();
        assertThat(object.end()).isTrue();
        assertThat(object.end()).isTrue();
        assertThat(object.acknowledge(1)).isFalse();
    }

    @Test
    void waitingEventDoesNot() throws Exception {
        publish(1, object);
        publish(2, new UnacknowledgedEvents());
        assertThat(object.end()).isTrue();
        assertThat(events.take()).isEqualTo(2);
    }

    @Test
    void nothingIsPublishedAfterTheEnd() throws Exception {
        assertThat(object.end()).isTrue();
        publish(1, object);
        assertThat(events.poll(Duration.ZERO)).isNull();
    }

    @Test
    void refusedEndLeavesWhatWaits() throws Exception {
        publish(1, object);
        publish(2, object);
        assertThat(events.take()).isEqualTo(1);
        assertThat(object.end()).isFalse();
        assertThat(events.take()).isEqualTo(2);
    }

    @Test
    void kindsAreAcknowledgedApartAndEndTogether() throws Exception {
        UnacknowledgedEvents one = object.ofKind();
        UnacknowledgedEvents other = object.ofKind();
        publish(1, one);
        publish(2, other);
        events.take();
        events.take();
        assertThat(object.count()).isEqualTo(2);
        assertThat(one.acknowledge(2)).isFalse();
        assertThat(one.acknowledge(1)).isTrue();
        assertThat(object.end()).isFalse();
        assertThat(other.acknowledge(1)).isTrue();
        publish(3, one);
        assertThat(object.end()).isTrue();
        publish(4, other);
        assertThat(events.poll(Duration.ZERO)).isNull();
    }

    /** A wait for whatever comes does not end because an object is closed whose event it has met. */
    @Test
    void waitGoesOnPastTheEventsOfAnObjectThatEnds() throws Exception {
        publish(1, object);
        assertThat(object.end()).isTrue();
        CompletableFuture<Integer> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return events.poll(Duration.ofSeconds(20));
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        publish(2, new UnacknowledgedEvents());
        assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo(2);
    }

    @Test
    void eventsOfAnObjectMoveInOrderUnlessOneIsTaken() throws Exception {
        publish(1, object);
        publish(7, new UnacknowledgedEvents());
        publish(2, object);
        List<EventQueue.Published<Integer>> moved = events.removeUnlessTaken(object,
                event -> event < 7);
        assertThat(moved).isNotNull().extracting(EventQueue.Published::event).containsExactly(1,
                2);
        moved.forEach(events::publish);
        assertThat(events.take()).isEqualTo(7);
        assertThat(events.take()).isEqualTo(1);
        assertThat(events.removeUnlessTaken(object, event -> true)).isNull();
        assertThat(events.take()).isEqualTo(2);
    }

    @Test
    void endAndTakingNeverBothSucceed() throws Exception {
        for (int round = 0; round < 10_000; round++) {
            UnacknowledgedEvents contested = new UnacknowledgedEvents();
            UnacknowledgedEvents kind = contested.ofKind();
            publish(round, kind);
            CyclicBarrier begin = new CyclicBarrier(2);
            CompletableFuture<Boolean> ending = CompletableFuture.supplyAsync(() -> {
                await(begin);
                return contested.end();
            });
            await(begin);
            boolean isTaken = events.poll(Duration.ZERO) != null;
            assertThat(ending.get(20, TimeUnit.SECONDS)).as("end in round %d", round)
                    .isNotEqualTo(isTaken);
            events.discard(kind);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
