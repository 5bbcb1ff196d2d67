// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.Race;
import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rings between applications and the engine, raced over by both sides: everything arrives once and in
 * order, what one side has written is what the other reads, and no waiting thread is forgotten.
 *
 * <p>What travels is written without any ordering of its own, so a thread that sees a number without what was
 * written before it has found a missing happens-before.
 */
@Tag("stress")
class RingRaceTest {
    /** So few that slots are used again at once. */
    private static final int CAPACITY = 2;

    private final Race race = new Race();

    /** Lets two threads that wait for each other meet at ever other points of their courses. */
    private static final class Hesitation {
        private long state;

        Hesitation(long seed) {
            state = seed;
        }

        void pause() {
            state = state * 0x5851_f42d_4c95_7f2dL + 0x1405_7b7e_f767_814fL;
            for (int left = (int) (state >>> 59); left > 0; left--) {
                Thread.onSpinWait();
            }
        }
    }

    // ---------------------------------------------------------------- completions

    private static void add(CompletionRing ring, CompletionSlot slot, long id) {
        slot.fill(id, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, (int) id,
                31 * id).fillImmediate(WorkCompletionFlag.WITH_IMMEDIATE, (int) ~id);
        ring.add(slot, false);
    }

    private static void assertWhole(WorkCompletion completion) {
        long id = completion.id();
        if (completion.queuePairNumber() != (int) id || completion.byteLength() != 31 * id
                || completion.immediate() != (int) ~id) {
            throw new AssertionError("of two halves: " + completion);
        }
    }

    @Test
    void completionsAreTakenOnceAndWholeHoweverTheyAreTaken() throws Exception {
        CompletionRing ring = new CompletionRing(CAPACITY, new QuietCompletions(), () -> 0, null,
                false);
        AtomicLong added = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("engine", () -> {
            Random random = new Random(1);
            while (!race.isOver()) {
                CompletionSlot slot = ring.free();
                if (slot != null) {
                    add(ring, slot, added.getAndIncrement());
                } else if (random.nextInt(64) == 0) {
                    ring.lockTakers();
                    ring.resize(CAPACITY + random.nextInt(3));
                    ring.unlockTakers();
                }
            }
            isEnded.set(true);
        });
        for (int taker = 0; taker < 3; taker++) {
            int seed = taker;
            race.once("taker " + taker, () -> {
                Taker own = new Taker(ring, new Random(seed), taken, sum);
                while (!race.hasFailed() && !(isEnded.get() && taken.get() == added.get())) {
                    own.take();
                }
            });
        }
        race.run();
        long count = added.get();
        assertThat(taken.get()).isEqualTo(count).isPositive();
        assertThat(sum.get()).isEqualTo(count * (count - 1) / 2);
    }

    /** Takes in one of three ways; the numbers of one taker only grow. */
    private static final class Taker {
        private final CompletionRing ring;
        private final Random random;
        private final AtomicLong taken;
        private final AtomicLong sum;
        private final WorkCompletion[] several = WorkCompletion.array(5);
        private long last = -1;

        Taker(CompletionRing ring, Random random, AtomicLong taken, AtomicLong sum) {
            this.ring = ring;
            this.random = random;
            this.taken = taken;
            this.sum = sum;
        }

        void take() {
            switch (random.nextInt(3)) {
                case 0 -> {
                    if (ring.take(several[0])) {
                        check(several[0]);
                    }
                }
                case 1 -> {
                    int count = ring.take(several);
                    for (int i = 0; i < count; i++) {
                        check(several[i]);
                    }
                }
                default -> {
                    if (ring.startBatch()) {
                        check(ring.currentInBatch());
                        while (random.nextInt(4) != 0 && ring.nextInBatch()) {
                            check(ring.currentInBatch());
                        }
                        ring.endBatch();
                    }
                }
            }
        }

        private void check(WorkCompletion completion) {
            assertWhole(completion);
            assertThat(completion.id()).isGreaterThan(last);
            last = completion.id();
            sum.addAndGet(last);
            taken.incrementAndGet();
        }
    }

    /** One queue pair begins anew all the time, the other one goes on. The number of a completion is that of the life. */
    @Test
    void nothingOfAnEarlierLifeIsTakenInTheNextAndNothingOfOthersIsLost() throws Exception {
        int resetting = 1;
        int lasting = 2;
        CompletionRing ring = new CompletionRing(8, new QuietCompletions(), () -> 0, null, false);
        AtomicLong life = new AtomicLong();
        AtomicLong added = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("engine", () -> {
            Random random = new Random(3);
            while (!race.isOver()) {
                if (random.nextInt(5) == 0) {
                    ring.remove(resetting);
                    life.incrementAndGet();
                }
                CompletionSlot slot = ring.free();
                if (slot != null) {
                    boolean isLasting = random.nextBoolean();
                    slot.fill(isLasting ? added.getAndIncrement() : life.get(),
                            WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.SEND,
                            isLasting ? lasting : resetting, 0);
                    ring.add(slot, false);
                }
            }
            isEnded.set(true);
        });
        for (int taker = 0; taker < 2; taker++) {
            Random random = new Random(taker);
            race.once("taker " + taker, () -> {
                WorkCompletion one = new WorkCompletion();
                while (!race.hasFailed() && !(isEnded.get() && taken.get() == added.get())) {
                    long begun = life.get();
                    boolean isInPlace = random.nextBoolean();
                    if (isInPlace ? !ring.startBatch() : !ring.take(one)) {
                        continue;
                    }
                    WorkCompletion found = isInPlace ? ring.currentInBatch() : one;
                    if (found.queuePairNumber() == lasting) {
                        taken.incrementAndGet();
                    } else if (found.id() < begun) {
                        throw new AssertionError(
                                "of life " + found.id() + " in life " + begun + ": " + found);
                    }
                    if (isInPlace) {
                        ring.endBatch();
                    }
                }
            });
        }
        race.run();
        assertThat(taken.get()).isEqualTo(added.get()).isPositive();
        assertThat(life.get()).isPositive();
    }

    @Test
    void whoeverAsksAndThenFindsNothingIsNotified() throws Exception {
        AtomicLong notified = new AtomicLong();
        CompletionRing ring = new CompletionRing(CAPACITY, new QuietCompletions() {
            @Override
            public void onNotify() {
                notified.incrementAndGet();
            }
        }, () -> 0, null, false);
        AtomicLong taken = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("engine", () -> {
            Hesitation hesitation = new Hesitation(1);
            for (long id = 0; !race.isOver(); id++) {
                CompletionSlot slot = ring.free();
                assertThat(slot).isNotNull();
                hesitation.pause();
                add(ring, slot, id);
                long next = id + 1;
                Wait.until("a completion is taken", () -> taken.get() == next
                        || race.hasFailed());
            }
            isEnded.set(true);
        });
        race.once("taker", () -> {
            Hesitation hesitation = new Hesitation(2);
            WorkCompletion completion = new WorkCompletion();
            while (!isEnded.get() && !race.hasFailed()) {
                hesitation.pause();
                long before = notified.get();
                ring.arm(false);
                if (!ring.take(completion)) {
                    Wait.until("the notification", () -> notified.get() != before || isEnded.get()
                            || race.hasFailed());
                    if (!ring.take(completion)) {
                        continue;
                    }
                }
                taken.incrementAndGet();
            }
        });
        race.run();
        assertThat(taken.get()).isPositive();
    }

    // ---------------------------------------------------------------- sends

    @Test
    void sendsAreSeenWhenPublishedAndNotBefore() throws Exception {
        SendRing ring = new SendRing(CAPACITY, 1, 0, null);
        AtomicLong published = new AtomicLong();
        AtomicBoolean arePostersDone = new AtomicBoolean();
        AtomicLong postersLeft = new AtomicLong(2);
        for (int poster = 0; poster < 2; poster++) {
            int seed = poster;
            race.once("poster " + poster, () -> {
                Random random = new Random(seed);
                SendWorkRequest request = new SendWorkRequest();
                while (!race.isOver()) {
                    post(ring, random, request, published);
                }
                // Not the comparison itself: who is not the last may come to store it last.
                if (postersLeft.decrementAndGet() == 0) {
                    arePostersDone.set(true);
                }
            });
        }
        race.once("engine", () -> {
            long index = 0;
            while (!race.hasFailed() && !(arePostersDone.get() && index == published.get())) {
                long end = ring.end();
                for (; index < end; index++) {
                    SendRequest request = ring.request(index);
                    assertWhole(request, index);
                    Thread.onSpinWait();
                    assertWhole(request, index);
                    ring.retire();
                }
            }
        });
        race.run();
        assertThat(published.get()).isPositive();
    }

    private static void post(SendRing ring, Random random, SendWorkRequest request,
            AtomicLong published) {
        ring.lock();
        try {
            long id = published.get();
            int wanted = 1 + random.nextInt(4);
            int staged = 0;
            for (; staged < wanted; staged++) {
                SendRequest slot = ring.free();
                if (slot == null) {
                    break;
                }
                slot.assign(request.clear().id(id + staged).write(31 * (id + staged), 0)
                        .add(0, id + staged, 7), false);
                ring.stage();
            }
            if (random.nextInt(4) == 0) {
                ring.unstage();
            } else {
                published.addAndGet(staged);
                ring.publish();
            }
        } finally {
            ring.unlock();
        }
    }

    private static void assertWhole(SendRequest request, long id) {
        if (request.id() != id || request.remoteAddress() != 31 * id || request.length() != id) {
            throw new AssertionError("request " + id + " is of two halves: " + request.id() + ", "
                    + request.remoteAddress() + ", " + request.length());
        }
    }

    // ---------------------------------------------------------------- rings that grow and shrink

    /** So many that a ring grows. */
    private static final int LARGE = 64;

    private final GrownRings grown = new GrownRings();
    private final AtomicLong shrunk = new AtomicLong();
    private final ReentrantLock owner = new ReentrantLock();

    private void asOwner(Runnable task) {
        owner.lock();
        try {
            task.run();
        } finally {
            owner.unlock();
        }
    }

    private void shrink() {
        boolean wasGrown = !grown.isEmpty();
        grown.shrinkUnused(this::asOwner);
        if (wasGrown && grown.isEmpty()) {
            shrunk.incrementAndGet();
        }
    }

    /** {@return whether it is not over, or has not shrunk yet, as on a machine that has no time for it} */
    private boolean goesOn() {
        return !race.isOver() || (shrunk.get() == 0 && !race.hasFailed());
    }

    @Test
    void completionsAreTakenOnceAndWholeWhileTheRingGrowsAndShrinks() throws Exception {
        CompletionRing ring = new CompletionRing(LARGE, new QuietCompletions(), () -> 0, null,
                false);
        ring.growWith(grown);
        AtomicLong added = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("engine", () -> {
            Random random = new Random(1);
            while (goesOn()) {
                int burst = random.nextInt(LARGE);
                asOwner(() -> {
                    for (int i = 0; i < burst; i++) {
                        CompletionSlot slot = ring.free();
                        if (slot != null) {
                            add(ring, slot, added.getAndIncrement());
                        }
                    }
                });
                if (random.nextBoolean()) {
                    Wait.until("they are taken",
                            () -> taken.get() == added.get() || race.hasFailed());
                }
            }
            isEnded.set(true);
        });
        for (int taker = 0; taker < 2; taker++) {
            int seed = taker;
            race.once("taker " + taker, () -> {
                Taker own = new Taker(ring, new Random(seed), taken, sum);
                while (!race.hasFailed() && !(isEnded.get() && taken.get() == added.get())) {
                    own.take();
                }
            });
        }
        race.once("monitor", () -> {
            while (!isEnded.get() && !race.hasFailed()) {
                shrink();
            }
        });
        race.run();
        long count = added.get();
        assertThat(taken.get()).isEqualTo(count).isPositive();
        assertThat(sum.get()).isEqualTo(count * (count - 1) / 2);
        assertThat(shrunk.get()).isPositive();
        // It was not forgotten while it grew.
        for (int i = 0; i < LARGE; i++) {
            add(ring, Objects.requireNonNull(ring.free()), i);
        }
        assertThat(grown.isEmpty()).isFalse();
    }

    @Test
    void sendsAreWholeWhileTheRingGrowsAndShrinks() throws Exception {
        SendRing ring = new SendRing(LARGE, 1, 0, null);
        ring.growWith(grown);
        AtomicLong published = new AtomicLong();
        AtomicLong retired = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("poster", () -> {
            Random random = new Random(1);
            SendWorkRequest request = new SendWorkRequest();
            while (goesOn()) {
                for (int i = random.nextInt(LARGE / 2); i > 0; i--) {
                    post(ring, random, request, published);
                }
                if (random.nextBoolean()) {
                    Wait.until("they are retired",
                            () -> retired.get() == published.get() || race.hasFailed());
                }
            }
            isEnded.set(true);
        });
        race.once("engine", () -> {
            while (!race.hasFailed() && !(isEnded.get() && retired.get() == published.get())) {
                long end = ring.end();
                for (long index = retired.get(); index < end; index++) {
                    assertWhole(ring.request(index), index);
                    ring.retire();
                    retired.incrementAndGet();
                }
            }
        });
        race.once("monitor", () -> {
            while (!isEnded.get() && !race.hasFailed()) {
                shrink();
            }
        });
        race.run();
        assertThat(published.get()).isPositive();
        assertThat(shrunk.get()).isPositive();
        // It was not forgotten while it grew.
        for (int i = 0; i < LARGE; i++) {
            assertThat(ring.free()).isNotNull();
            ring.stage();
        }
        assertThat(grown.isEmpty()).isFalse();
    }

    // ---------------------------------------------------------------- receives

    @Test
    void receivesAreTakenOnceAndWhole() throws Exception {
        ReceiveRing ring = new ReceiveRing(CAPACITY, 1);
        AtomicLong posted = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicLong postersLeft = new AtomicLong(2);
        for (int poster = 0; poster < 2; poster++) {
            race.once("poster " + poster, () -> {
                ReceiveWorkRequest request = new ReceiveWorkRequest();
                while (!race.isOver()) {
                    synchronized (ring) {
                        long id = posted.get();
                        if (ring.post(request.clear().id(id).add(0, id, 7))) {
                            posted.incrementAndGet();
                        }
                    }
                }
                postersLeft.decrementAndGet();
            });
        }
        race.once("engine", () -> {
            while (!race.hasFailed() && (postersLeft.get() > 0 || taken.get() < posted.get())) {
                ReceiveRequest request = ring.take();
                if (request != null) {
                    long id = taken.getAndIncrement();
                    assertThat(request.id()).isEqualTo(id);
                    assertThat(request.capacity()).isEqualTo(id);
                    ring.release(request);
                }
            }
        });
        race.run();
        assertThat(taken.get()).isEqualTo(posted.get()).isPositive();
    }

    @Test
    void whoeverFindsASharedQueueEmptyIsToldOfTheNextRequest() throws Exception {
        SharedReceiveRing ring = new SharedReceiveRing(CAPACITY, 1, () -> {});
        ReceiveQueue view = ring.view();
        AtomicLong told = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("poster", () -> {
            Hesitation hesitation = new Hesitation(1);
            ReceiveWorkRequest request = new ReceiveWorkRequest();
            for (long id = 0; !race.isOver(); id++) {
                hesitation.pause();
                assertThat(ring.post(request.clear().id(id).add(0, id, 7))).isTrue();
                if (ring.takeStarved()) {
                    told.incrementAndGet();
                }
                long next = id + 1;
                Wait.until("a request is taken",
                        () -> taken.get() == next || race.hasFailed());
            }
            isEnded.set(true);
        });
        race.once("engine", () -> {
            Hesitation hesitation = new Hesitation(2);
            while (!isEnded.get() && !race.hasFailed()) {
                hesitation.pause();
                long before = told.get();
                ReceiveRequest request = view.take();
                if (request == null) {
                    Wait.until("word of a request", () -> told.get() != before || isEnded.get()
                            || race.hasFailed());
                    continue;
                }
                assertThat(request.id()).isEqualTo(taken.get());
                assertThat(request.capacity()).isEqualTo(taken.get());
                view.release(request);
                taken.incrementAndGet();
            }
        });
        race.run();
        assertThat(taken.get()).isPositive();
    }

    @Test
    void sharedReceivesAreTakenOnceAndWholeWhileTheQueueChangesItsSize() throws Exception {
        SharedReceiveRing ring = new SharedReceiveRing(CAPACITY, 1, () -> {});
        ReceiveQueue[] views = {ring.view(), ring.view()};
        AtomicLong posted = new AtomicLong();
        AtomicLong taken = new AtomicLong();
        AtomicLong postersLeft = new AtomicLong(2);
        for (int poster = 0; poster < 2; poster++) {
            race.once("poster " + poster, () -> {
                ReceiveWorkRequest request = new ReceiveWorkRequest();
                while (!race.isOver()) {
                    synchronized (ring) {
                        long id = posted.get();
                        if (ring.post(request.clear().id(id).add(0, id, 7))) {
                            posted.incrementAndGet();
                        }
                    }
                }
                postersLeft.decrementAndGet();
            });
        }
        race.once("engine", () -> {
            Random random = new Random(3);
            while (!race.hasFailed() && (postersLeft.get() > 0 || taken.get() < posted.get())) {
                ReceiveQueue view = views[random.nextInt(2)];
                ReceiveRequest request = view.take();
                if (request != null) {
                    long id = taken.getAndIncrement();
                    assertThat(request.id()).isEqualTo(id);
                    assertThat(request.capacity()).isEqualTo(id);
                    view.release(request);
                }
                if (random.nextInt(64) == 0) {
                    ring.resize(CAPACITY + random.nextInt(3));
                }
            }
        });
        race.run();
        assertThat(taken.get()).isEqualTo(posted.get()).isPositive();
    }
}
