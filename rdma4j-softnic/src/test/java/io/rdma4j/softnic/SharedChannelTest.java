// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.softnic.SharedChannelStage.Link;
import io.rdma4j.softnic.SharedChannelStage.Waiter;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;

import static io.rdma4j.softnic.SharedChannelStage.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Threads that wait for completions, in queues that share one channel: each is woken for what it waits for, by
 * a completion or because none can come.
 */
class SharedChannelTest {
    private final SharedChannelStage stage = new SharedChannelStage();

    SharedChannelTest() throws RdmaException {}

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        stage.close();
    }

    private static Thread.Builder threads(boolean isVirtual) {
        return isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachThreadIsWokenForItsOwnQueue(boolean isVirtual) throws Exception {
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            links.add(stage.connect());
        }
        for (int round = 0; round < 20; round++) {
            List<Waiter<WorkCompletion>> waiters = new ArrayList<>();
            for (Link link : links) {
                link.expect(round);
                waiters.add(new Waiter<>(threads(isVirtual), link.near::awaitReceiveCompletion));
            }
            for (Waiter<?> waiter : waiters) {
                waiter.untilItSleeps();
            }
            for (Link link : links) {
                link.sendFromFarEnd(round);
            }
            for (Waiter<WorkCompletion> waiter : waiters) {
                assertDone(waiter.result(), round);
            }
            for (Link link : links) {
                assertDone(link.far.awaitSendCompletion(), round);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sendsAndReceivesOfAQueuePairWakeWhomTheyConcern(boolean isVirtual) throws Exception {
        Link link = stage.connect();
        for (int round = 0; round < 50; round++) {
            link.expect(round);
            link.expectAtFarEnd(round);
            Waiter<WorkCompletion> received = new Waiter<>(threads(isVirtual),
                    link.near::awaitReceiveCompletion).untilItSleeps();
            Waiter<WorkCompletion> sent = new Waiter<>(threads(isVirtual),
                    () -> inTime(link.near.pollSendCompletion(Duration.ofHours(1))))
                    .untilItSleeps();
            link.send(round);
            link.sendFromFarEnd(round);
            assertDone(sent.result(), round);
            assertDone(received.result(), round);
            assertDone(link.far.awaitSendCompletion(), round);
            assertDone(link.far.awaitReceiveCompletion(), round);
        }
    }

    @Test
    void severalThreadsThatWaitForOneQueueGetACompletionEach() throws Exception {
        Link link = stage.connect();
        for (int round = 0; round < 20; round++) {
            List<Waiter<WorkCompletion>> waiters = new ArrayList<>();
            for (int i = 0; i < SharedChannelStage.DEPTH; i++) {
                link.expect(i);
                waiters.add(new Waiter<>(threads(i % 2 == 1), link.near::awaitReceiveCompletion)
                        .untilItSleeps());
            }
            for (int i = 0; i < SharedChannelStage.DEPTH; i++) {
                link.sendFromFarEnd(i);
            }
            List<Long> ids = new ArrayList<>();
            for (Waiter<WorkCompletion> waiter : waiters) {
                ids.add(waiter.result().id());
                link.far.awaitSendCompletion();
            }
            assertThat(ids).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        }
    }

    @Test
    void eventsAreForWhoAskedForThem() throws Exception {
        Link awaited = stage.connect();
        Link announced = stage.connect();
        for (int round = 0; round < 20; round++) {
            awaited.expect(round);
            announced.expect(round);
            announced.receives().requestNotification();
            Waiter<WorkCompletion> waiter = new Waiter<>(awaited.near::awaitReceiveCompletion)
                    .untilItSleeps();
            Waiter<CompletionQueue> events = new Waiter<>(stage.channel::awaitEvent)
                    .untilItSleeps();
            awaited.sendFromFarEnd(round);
            assertDone(waiter.result(), round);
            announced.sendFromFarEnd(round);
            assertThat(events.result()).isSameAs(announced.receives());
            announced.receives().acknowledgeEvents(1);
            assertDone(announced.near.awaitReceiveCompletion(), round);
            assertThat(stage.channel.pollEvent(Duration.ZERO)).isNull();
            awaited.far.awaitSendCompletion();
            announced.far.awaitSendCompletion();
        }
    }

    @Test
    void whoWaitsForAnEventOfTheSameQueueIsWokenToo() throws Exception {
        Link link = stage.connect();
        for (int round = 0; round < 20; round++) {
            link.expect(round);
            link.receives().requestNotification();
            Waiter<WorkCompletion> waiter = new Waiter<>(link.near::awaitReceiveCompletion)
                    .untilItSleeps();
            Waiter<CompletionQueue> events = new Waiter<>(stage.channel::awaitEvent)
                    .untilItSleeps();
            link.sendFromFarEnd(round);
            assertThat(events.result()).isSameAs(link.receives());
            link.receives().acknowledgeEvents(1);
            assertDone(waiter.result(), round);
            link.far.awaitSendCompletion();
        }
    }

    @Test
    void waitingLeavesNoEventBehind() throws Exception {
        Link link = stage.connect(true);
        link.expect(1);
        assertThat(link.near.pollReceiveCompletion(Duration.ofMillis(1))).isNull();
        link.sendFromFarEnd(1);
        assertDone(link.near.awaitReceiveCompletion(), 1);
        assertThat(stage.channel.pollEvent(Duration.ZERO)).isNull();
    }

    @Test
    void solicitedEventsAreNotAskedForByThoseWhoWait() throws Exception {
        Link link = stage.connect();
        link.expect(1);
        link.receives().requestSolicitedNotification();
        Waiter<WorkCompletion> waiter = new Waiter<>(link.near::awaitReceiveCompletion)
                .untilItSleeps();
        link.sendFromFarEnd(1);
        assertDone(waiter.result(), 1);
        assertThat(stage.channel.pollEvent(Duration.ZERO)).isNull();
        // The event is still asked for, and a failure counts as solicited.
        link.expect(2);
        link.near.disconnect();
        assertThat(stage.channel.pollEvent(CmStage.LONG)).isSameAs(link.receives());
        link.receives().acknowledgeEvents(1);
    }

    // ---------------------------------------------------------------- ends

    private static void assertEnds(Waiter<?> waiter, Errno errno) {
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::result)
                .satisfies(e -> assertThat(errno(e)).as(e.getMessage()).isEqualTo(errno));
    }

    private static Errno errno(ExecutionException failure) {
        return ((RdmaException) Objects.requireNonNull(failure.getCause())).errno();
    }

    private static WorkCompletion inTime(@Nullable WorkCompletion completion) {
        return Objects.requireNonNull(completion);
    }

    /** Nothing is outstanding, so only waits with a limit are possible. */
    private List<Waiter<WorkCompletion>> waiters(CmId id) throws Exception {
        List<Waiter<WorkCompletion>> waiters = new ArrayList<>();
        for (boolean isVirtual : new boolean[]{false, true}) {
            waiters.add(new Waiter<>(threads(isVirtual),
                    () -> inTime(id.pollReceiveCompletion(Duration.ofHours(1)))));
            waiters.add(new Waiter<>(threads(isVirtual),
                    () -> inTime(id.pollSendCompletion(Duration.ofHours(1)))));
        }
        for (Waiter<?> waiter : waiters) {
            waiter.untilItSleeps();
        }
        return waiters;
    }

    @Test
    void everybodyWhoWaitsIsWokenWhenThePeerDisconnects() throws Exception {
        Link link = stage.connect();
        Link other = stage.connect();
        other.expect(1);
        Waiter<WorkCompletion> bystander = new Waiter<>(other.near::awaitReceiveCompletion);
        List<Waiter<WorkCompletion>> waiters = waiters(link.near);
        link.far.disconnect();
        for (Waiter<?> waiter : waiters) {
            assertEnds(waiter, Errno.ENOTCONN);
        }
        other.sendFromFarEnd(1);
        assertDone(bystander.result(), 1);
    }

    @Test
    void everybodyWhoWaitsIsWokenWhenTheIdIsClosed() throws Exception {
        Link link = stage.connect();
        List<Waiter<WorkCompletion>> waiters = waiters(link.near);
        waiters.addAll(waiters(link.far));
        link.near.close();
        link.far.close();
        for (int i = 0; i < waiters.size(); i++) {
            // The far end may get the disconnect first.
            if (i < waiters.size() / 2) {
                assertEnds(waiters.get(i), Errno.EBADF);
            } else {
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(waiters.get(i)::result)
                        .withCauseInstanceOf(RdmaException.class);
            }
        }
    }

    @Test
    void everybodyWhoWaitsIsWokenWhenTheQueuePairFails() throws Exception {
        Link link = stage.connect();
        List<Waiter<WorkCompletion>> waiters = waiters(link.near);
        link.near.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        for (Waiter<?> waiter : waiters) {
            assertEnds(waiter, Errno.ENOTCONN);
        }
    }

    @Test
    void aSecondWaitEndsAfterTheFlushedCompletion() throws Exception {
        Link link = stage.connect();
        link.expect(1);
        Waiter<WorkCompletion> first = new Waiter<>(link.near::awaitReceiveCompletion)
                .untilItSleeps();
        Waiter<WorkCompletion> second = new Waiter<>(
                () -> inTime(link.near.pollReceiveCompletion(Duration.ofHours(1))))
                .untilItSleeps();
        link.far.disconnect();
        List<Object> outcomes = new ArrayList<>();
        for (Waiter<WorkCompletion> waiter : List.of(first, second)) {
            try {
                outcomes.add(waiter.result().status().name());
            } catch (ExecutionException e) {
                outcomes.add(errno(e));
            }
        }
        assertThat(outcomes).containsExactlyInAnyOrder("WORK_REQUEST_FLUSHED", Errno.ENOTCONN);
    }

    @Test
    void messagesThatCameBeforeTheEndAreHandedOutFirst() throws Exception {
        Link link = stage.connect();
        for (int i = 0; i < 3; i++) {
            link.expect(i);
        }
        link.sendFromFarEnd(1);
        link.sendFromFarEnd(2);
        link.far.awaitSendCompletion();
        link.far.awaitSendCompletion();
        link.far.disconnect();
        assertDone(link.near.awaitReceiveCompletion(), 0);
        assertDone(link.near.awaitReceiveCompletion(), 1);
        assertThat(link.near.awaitReceiveCompletion().isSuccess()).isFalse();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(link.near::awaitReceiveCompletion)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOTCONN));
    }
}
