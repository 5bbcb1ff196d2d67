// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A completion queue's entries: what applications find, who is told when, and what becomes of those without room. */
class CompletionRingTest {
    private static final long PERIOD_NS = 1000;

    private final List<String> told = new ArrayList<>();
    private long nowNs = 5_000_000;
    private CompletionRing ring = ring(4, false);
    private long added;

    private CompletionRing ring(int capacity, boolean isOverrunIgnored) {
        return ring(capacity, null, isOverrunIgnored);
    }

    private CompletionRing ring(int capacity, CompletionRing.@Nullable Clock clock,
            boolean isOverrunIgnored) {
        return new CompletionRing(capacity, new CompletionRing.Listener() {
            @Override
            public void onNotify() {
                told.add("event");
            }

            @Override
            public void onAwaited() {
                told.add("wake-up");
            }

            @Override
            public void onOverrun() {
                told.add("overrun");
            }

            @Override
            public void onModerated(CompletionRing moderated) {
                told.add("put off");
            }
        }, () -> nowNs, clock, isOverrunIgnored);
    }

    private void add() {
        add(false);
    }

    private void addSolicited() {
        add(true);
    }

    private void add(boolean isSolicited) {
        CompletionSlot slot = Objects.requireNonNull(ring.free(), "no room");
        slot.fill(added++, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.SEND, 7, 0);
        ring.add(slot, isSolicited);
    }

    private void add(int count) {
        for (int i = 0; i < count; i++) {
            add();
        }
    }

    private List<Long> take(int atMost) {
        WorkCompletion[] into = WorkCompletion.array(atMost);
        int count = ring.take(into);
        return Arrays.stream(into).limit(count).map(WorkCompletion::id).toList();
    }

    private void assertTold(String... expected) {
        assertThat(told).containsExactly(expected);
        told.clear();
    }

    // ---------------------------------------------------------------- room and order

    @Test
    void completionsAreTakenInTheirOrderAndOnce() {
        add(3);
        WorkCompletion one = new WorkCompletion();
        assertThat(ring.take(one)).isTrue();
        assertThat(one.id()).isZero();
        assertThat(take(4)).containsExactly(1L, 2L);
        assertThat(take(4)).isEmpty();
        assertThat(ring.take(one)).isFalse();
        assertThat(one.id()).isZero();
    }

    @Test
    void noMoreAreTakenThanTheArrayHolds() {
        add(3);
        assertThat(take(2)).containsExactly(0L, 1L);
        assertThat(take(0)).isEmpty();
        assertThat(take(2)).containsExactly(2L);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 9})
    void ringHoldsJustWhatItShouldHoweverOftenItGoesRound(int capacity) {
        ring = ring(capacity, false);
        assertThat(ring.capacity()).isEqualTo(capacity);
        List<Long> all = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            while (ring.free() != null) {
                add();
            }
            assertThat(added - all.size()).isEqualTo(capacity);
            all.addAll(take(1 + round % capacity));
        }
        all.addAll(take(capacity));
        for (int i = 0; i < added; i++) {
            assertThat(all.get(i)).isEqualTo(i);
        }
        assertThat(all).hasSize((int) added);
    }

    @Test
    void completionWithoutRoomIsNeverForgotten() {
        ring.add(Objects.requireNonNull(ring.free()), false);
        add(3);
        assertThat(ring.isOverrun()).isFalse();
        assertThat(ring.free()).isNull();
        assertThat(ring.isOverrun()).isTrue();
        take(4);
        assertThat(ring.free()).isNotNull();
        assertThat(ring.isOverrun()).isTrue();
        ring.reportOverrun();
        assertTold("overrun");
    }

    @Test
    void ringThatMayOverrunHasNoErrorWhenItDoes() {
        assertThat(ring.isOverrunIgnored()).isFalse();
        ring = ring(2, true);
        assertThat(ring.isOverrunIgnored()).isTrue();
        add(2);
        assertThat(ring.free()).isNull();
        assertThat(ring.isOverrun()).isFalse();
        assertThat(take(4)).containsExactly(0L, 1L);
    }

    @Test
    void completionHasBothTimesOfTheMomentItWasAdded() {
        ring = ring(4, new CompletionRing.Clock() {
            @Override
            public long rawNs() {
                return nowNs;
            }

            @Override
            public long wallclockNs() {
                return nowNs + 1;
            }
        }, false);
        add();
        nowNs += 50;
        WorkCompletion taken = new WorkCompletion();
        assertThat(ring.take(taken)).isTrue();
        assertThat(taken.completionTimestamp()).isEqualTo(5_000_000);
        assertThat(taken.completionWallclockNs()).isEqualTo(5_000_001);
    }

    // ---------------------------------------------------------------- events

    @Test
    void nobodyIsToldWhoHasNotAsked() {
        assertThat(ring.isEventAsked()).isFalse();
        add();
        addSolicited();
        assertTold();
    }

    @Test
    void whoAskedIsToldOfTheNextCompletionAndNotOfTheOneAfter() {
        add();
        ring.arm(false);
        assertThat(ring.isEventAsked()).isTrue();
        assertTold();
        add();
        assertTold("event");
        assertThat(ring.isEventAsked()).isFalse();
        add();
        assertTold();
        ring.arm(false);
        ring.arm(false);
        addSolicited();
        assertTold("event");
    }

    @Test
    void whoAskedForSolicitedOnesAloneIsToldOfNoOther() {
        ring.arm(true);
        assertThat(ring.isEventAsked()).isTrue();
        add();
        assertTold();
        assertThat(ring.isEventAsked()).isTrue();
        addSolicited();
        assertTold("event");
        assertThat(ring.isEventAsked()).isFalse();
    }

    /** As ibv_req_notify_cq: a further request widens the first, and one event answers both. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneEventAnswersBothKindsOfRequest(boolean isSolicited) {
        ring.arm(true);
        ring.arm(false);
        add(isSolicited);
        assertTold("event");
        assertThat(ring.isEventAsked()).isFalse();
        addSolicited();
        assertTold();
    }

    @Test
    void waitersAreWokenByAnyCompletionAndOnce() {
        ring.armForWaiters();
        ring.armForWaiters();
        assertThat(ring.isEventAsked()).isFalse();
        add();
        assertTold("wake-up");
        add();
        assertTold();
    }

    @Test
    void waitersTakeNoEventFromWhoAskedForSolicitedOnes() {
        ring.arm(true);
        ring.armForWaiters();
        add();
        assertTold("wake-up");
        assertThat(ring.isEventAsked()).isTrue();
        addSolicited();
        assertTold("event");
    }

    @Test
    void oneCompletionTellsBothWhoAskedAndWaiters() {
        ring.armForWaiters();
        ring.arm(false);
        add();
        assertTold("event", "wake-up");
        add();
        assertTold();
    }

    // ---------------------------------------------------------------- moderation

    @Test
    void eventIsPutOffUntilAsManyCompletionsHaveCome() {
        ring.moderate(3, PERIOD_NS);
        ring.arm(false);
        assertThat(ring.notificationDueNs()).isEqualTo(Long.MAX_VALUE);
        add();
        assertTold("put off");
        assertThat(ring.notificationDueNs()).isEqualTo(nowNs + PERIOD_NS);
        nowNs += 10;
        add();
        assertTold();
        assertThat(ring.notificationDueNs()).isEqualTo(nowNs - 10 + PERIOD_NS);
        add();
        assertTold("event");
        assertThat(ring.notificationDueNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(ring.isEventAsked()).isFalse();
    }

    @Test
    void eventIsPutOffNoLongerThanThePeriod() {
        ring.moderate(3, PERIOD_NS);
        ring.arm(false);
        add();
        assertTold("put off");
        assertThat(ring.notifyIfDue(nowNs + PERIOD_NS - 1)).isFalse();
        assertTold();
        assertThat(ring.notifyIfDue(nowNs + PERIOD_NS)).isTrue();
        assertTold("event");
        assertThat(ring.notifyIfDue(nowNs + 2 * PERIOD_NS)).isTrue();
        assertTold();
    }

    @Test
    void countBeginsAnewAfterEachEvent() {
        ring.moderate(2, PERIOD_NS);
        for (int i = 0; i < 2; i++) {
            ring.arm(false);
            add();
            assertTold("put off");
            add();
            assertTold("event");
            take(4);
        }
    }

    @Test
    void whatIsPutOffIsToldAtOnceWhenTheModerationChanges() {
        ring.moderate(3, PERIOD_NS);
        ring.moderate(4, PERIOD_NS);
        assertTold();
        ring.arm(false);
        add();
        assertTold("put off");
        ring.moderate(1, PERIOD_NS);
        assertTold("event");
        ring.arm(false);
        add();
        assertTold("event");
    }

    @Test
    void whatWasAskedForIsRememberedWhileItIsPutOff() {
        ring.moderate(2, PERIOD_NS);
        ring.arm(true);
        ring.armForWaiters();
        addSolicited();
        assertTold("put off");
        // This one alone would only wake.
        add();
        assertTold("event", "wake-up");
    }

    // ---------------------------------------------------------------- resizing

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 16})
    void resizingKeepsCompletionsAndTheirOrder(int capacity) {
        // The oldest is in the middle of the slots.
        add(3);
        take(3);
        add(3);
        assertThat(ring.resize(capacity)).isTrue();
        assertThat(ring.capacity()).isEqualTo(capacity);
        add(capacity - 3);
        assertThat(ring.free()).isNull();
        assertThat(take(3)).containsExactly(3L, 4L, 5L);
        assertThat(take(capacity)).hasSize(capacity - 3);
    }

    @Test
    void ringIsNotResizedBelowWhatItHolds() {
        add(3);
        assertThat(ring.resize(2)).isFalse();
        assertThat(ring.capacity()).isEqualTo(4);
        add();
        assertThat(take(4)).containsExactly(0L, 1L, 2L, 3L);
        assertThat(ring.resize(2)).isTrue();
    }

    // ---------------------------------------------------------------- locks

    @Test
    void nobodyTakesWhileTakersAreLocked() throws Exception {
        add(2);
        ring.lockTakers();
        OtherThread<List<Long>> several = OtherThread.begin(() -> take(1));
        several.awaitStandstill();
        ring.unlockTakers();
        assertThat(several.result()).containsExactly(0L);
        ring.lockTakers();
        OtherThread<Boolean> one = OtherThread.begin(() -> ring.take(new WorkCompletion()));
        one.awaitStandstill();
        // Meanwhile it is taken by whoever has the lock.
        assertThat(take(1)).containsExactly(1L);
        ring.unlockTakers();
        assertThat(one.result()).isFalse();
    }

    @Test
    void emptyRingKeepsNobodyWaiting() throws Exception {
        ring.lockTakers();
        assertThat(OtherThread.result(() -> take(1))).isEmpty();
        assertThat(OtherThread.result(() -> ring.take(new WorkCompletion()))).isFalse();
        ring.unlockTakers();
    }

    @Test
    void whoHasTakenLetsOthersTake() throws Exception {
        add(4);
        assertThat(take(1)).containsExactly(0L);
        assertThat(OtherThread.result(() -> take(1))).containsExactly(1L);
        assertThat(ring.take(new WorkCompletion())).isTrue();
        assertThat(OtherThread.result(() -> take(1))).containsExactly(3L);
    }

    // ---------------------------------------------------------------- batches

    @Test
    void batchReadsInPlaceAndFreesWhatItHasRead() {
        add(4);
        assertThat(ring.startBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isZero();
        assertThat(ring.nextInBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isEqualTo(1);
        assertThat(ring.free()).isNull();
        ring.endBatch();
        add(2);
        assertThat(ring.free()).isNull();
        assertThat(take(8)).containsExactly(2L, 3L, 4L, 5L);
    }

    @Test
    void batchEndsWithTheLastCompletionAndSeesWhatComesMeanwhile() {
        add();
        assertThat(ring.startBatch()).isTrue();
        assertThat(ring.nextInBatch()).isFalse();
        assertThat(ring.currentInBatch().id()).isZero();
        add();
        assertThat(ring.nextInBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isEqualTo(1);
        ring.endBatch();
        assertThat(take(4)).isEmpty();
    }

    @Test
    void emptyRingBeginsNoBatch() throws Exception {
        assertThat(ring.startBatch()).isFalse();
        assertThatIllegalStateException().isThrownBy(ring::endBatch)
                .withMessageContaining("start polling first");
        add();
        assertThat(OtherThread.result(() -> take(1))).containsExactly(0L);
    }

    @Test
    void batchOfAnotherThreadIsWaitedFor() throws Exception {
        add(2);
        assertThat(ring.startBatch()).isTrue();
        OtherThread<Boolean> other = OtherThread.begin(() -> ring.startBatch()
                && ring.currentInBatch().id() == 1);
        other.awaitStandstill();
        ring.endBatch();
        assertThat(other.result()).isTrue();
    }

    /** Whoever reads in place posts what follows before it ends that. */
    @Test
    void completionsThatWereReachedInPlaceAreTakenForTheThread() throws Exception {
        add(3);
        assertThat(ring.taken()).isZero();
        assertThat(ring.startBatch()).isTrue();
        assertThat(ring.taken()).isOne();
        assertThat(ring.nextInBatch()).isTrue();
        assertThat(ring.taken()).isEqualTo(2);
        assertThat(OtherThread.result(ring::taken)).isZero();
        ring.endBatch();
        assertThat(ring.taken()).isEqualTo(2);
        assertThat(OtherThread.result(ring::taken)).isEqualTo(2);
    }

    /** Perhaps the thread that has begun it has ended. */
    @Test
    void nobodyWaitsForABatchOfAClosedRing() throws Exception {
        add(2);
        assertThat(ring.startBatch()).isTrue();
        OtherThread<Boolean> taking = OtherThread.begin(() -> ring.take(new WorkCompletion()));
        OtherThread<Boolean> beginning = OtherThread.begin(ring::startBatch);
        OtherThread<Boolean> keeping = OtherThread.begin(ring::lockTakers);
        taking.awaitStandstill();
        beginning.awaitStandstill();
        keeping.awaitStandstill();
        ring.close();
        assertThat(taking.result()).isFalse();
        assertThat(beginning.result()).isFalse();
        assertThat(keeping.result()).isFalse();
        assertThat(ring.currentInBatch().id()).isZero();
        ring.endBatch();
    }

    @Test
    void threadInABatchBeginsNoOtherAndTakesNothing() throws Exception {
        add(3);
        assertThat(ring.startBatch()).isTrue();
        assertThatIllegalStateException().isThrownBy(ring::startBatch)
                .withMessageContaining("end it first");
        assertThatIllegalStateException().isThrownBy(() -> take(1))
                .withMessageContaining("end it first");
        assertThatIllegalStateException().isThrownBy(() -> ring.take(new WorkCompletion()))
                .withMessageContaining("end it first");
        assertThat(ring.currentInBatch().id()).isZero();
        ring.endBatch();
        assertThat(OtherThread.result(() -> take(4))).containsExactly(1L, 2L);
    }

    @Test
    void whatBelongsToABatchNeedsOneOfThisThread() throws Exception {
        add(2);
        assertThatIllegalStateException().isThrownBy(ring::nextInBatch);
        assertThatIllegalStateException().isThrownBy(ring::currentInBatch);
        assertThatIllegalStateException().isThrownBy(ring::endBatch);
        // The lock alone is no batch.
        ring.lockTakers();
        assertThatIllegalStateException().isThrownBy(ring::currentInBatch);
        ring.unlockTakers();
        assertThat(ring.startBatch()).isTrue();
        assertThat(OtherThread.begin(ring::nextInBatch).failure())
                .isInstanceOf(IllegalStateException.class);
        ring.endBatch();
        assertThatIllegalStateException().isThrownBy(ring::endBatch);
    }

    // ---------------------------------------------------------------- queue pairs that begin anew

    private void addOf(int... queuePairs) {
        for (int queuePair : queuePairs) {
            CompletionSlot slot = Objects.requireNonNull(ring.free(), "no room");
            slot.fill(added++, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.SEND, queuePair,
                    0);
            ring.add(slot, false);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 9})
    void removedCompletionsAreNotTakenHoweverManyAreAskedFor(int atMost) {
        ring = ring(8, false);
        addOf(9, 7, 9, 9, 7, 9);
        ring.remove(9);
        List<Long> all = new ArrayList<>();
        for (List<Long> some = take(atMost); !some.isEmpty(); some = take(atMost)) {
            all.addAll(some);
        }
        assertThat(all).containsExactly(1L, 4L);
    }

    @Test
    void removedCompletionsLeaveTheirRoomToOthers() {
        for (int i = 0; i < 100; i++) {
            addOf(7, 9, 9);
            ring.remove(9);
            addOf(8, 8, 8);
            assertThat(ring.free()).isNull();
            ring = ring(4, false);
        }
        addOf(9, 9, 9, 9);
        ring.remove(9);
        assertThat(ring.take(new WorkCompletion())).isFalse();
        addOf(7, 7, 7, 7);
        assertThat(take(4)).hasSize(4);
    }

    @Test
    void removedCompletionsAreNotReadInPlace() {
        ring = ring(8, false);
        addOf(9, 9, 7, 9, 7, 9);
        ring.remove(9);
        assertThat(ring.startBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isEqualTo(2);
        assertThat(ring.nextInBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isEqualTo(4);
        assertThat(ring.nextInBatch()).isFalse();
        ring.endBatch();
        assertThat(ring.startBatch()).isFalse();
    }

    /** The program closes a queue pair when it reads that it has failed. */
    @Test
    void whoReadsInPlaceKeepsWhatItHasReachedAndPassesTheRest() {
        ring = ring(8, false);
        addOf(9, 9, 7, 9);
        assertThat(ring.startBatch()).isTrue();
        ring.remove(9);
        assertThat(ring.currentInBatch().id()).isZero();
        assertThat(ring.nextInBatch()).isTrue();
        assertThat(ring.currentInBatch().id()).isEqualTo(2);
        assertThat(ring.nextInBatch()).isFalse();
        ring.endBatch();
        assertThat(take(8)).isEmpty();
        addOf(9);
        assertThat(take(8)).containsExactly(4L);
    }

    @Test
    void removedCompletionsDoNotKeepTheQueueFromBecomingSmaller() {
        ring = ring(8, false);
        addOf(9, 9, 7, 9, 9);
        ring.remove(9);
        assertThat(ring.resize(1)).isTrue();
        assertThat(take(8)).containsExactly(2L);
    }

    // ---------------------------------------------------------------- the size

    private GrownRings grown(int capacity) {
        GrownRings grown = new GrownRings();
        ring = ring(capacity, false);
        ring.growWith(grown);
        return grown;
    }

    @Test
    void ringThatWasNotUsedBetweenTwoLooksIsSmallAgain() {
        GrownRings grown = grown(100);
        add(4);
        assertThat(grown.isEmpty()).isTrue();
        add(96);
        take(100);
        CompletionSlot next = ring.free();
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isFalse();
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isTrue();
        assertThat(ring.free()).isNotSameAs(next);
        for (int round = 0; round < 3; round++) {
            add(100);
            assertThat(grown.isEmpty()).isFalse();
            assertThat(take(100)).hasSize(100).doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"completions", "a batch", "use"})
    void ringThatIsInUseKeepsItsSlots(String use) {
        GrownRings grown = grown(100);
        add(50);
        switch (use) {
            case "a batch" -> {
                take(49);
                assertThat(ring.startBatch()).isTrue();
            }
            case "use" -> take(50);
            default -> take(20);
        }
        for (int look = 0; look < 3; look++) {
            if (use.equals("use")) {
                add();
                take(1);
            }
            grown.shrinkUnused(Runnable::run);
            assertThat(grown.isEmpty()).isFalse();
        }
        if (use.equals("a batch")) {
            assertThat(ring.currentInBatch().id()).isEqualTo(49);
            ring.endBatch();
        }
        take(100);
        grown.shrinkUnused(Runnable::run);
        grown.shrinkUnused(Runnable::run);
        assertThat(grown.isEmpty()).isTrue();
        add(3);
        assertThat(take(4)).hasSize(3);
    }

    @Test
    void ringThatIsUsedNoMoreIsForgotten() {
        GrownRings grown = grown(100);
        add(50);
        assertThat(grown.isEmpty()).isFalse();
        ring.close();
        assertThat(grown.isEmpty()).isTrue();
    }
}
