// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Where others work on the processor, who looks for packets sleeps instead of giving way. */
class ProcessorContentionTest {
    private static final long LONG_NS = ProcessorContention.LONG_NS + 1;

    private final AtomicLong clock = new AtomicLong(1);
    /** How long after the one before a poll begins, and how long giving way takes. */
    private long pauseNs = 1_000;
    private long awayNs;
    private boolean hasBegun;
    private final Bed bed = new Bed();
    private final Engine engine = new Engine(() -> 1, bed);
    private final EngineDriver driver = new EngineDriver(engine,
            this::look, "background", () -> {});

    @AfterEach
    void close() {
        driver.close();
    }

    private void poll() {
        clock.addAndGet(pauseNs);
        hasBegun = false;
        driver.poll();
    }

    /** A poll looks when it begins, and when it comes back after giving way. */
    private long look() {
        long nowNs = hasBegun ? clock.addAndGet(awayNs) : clock.get();
        hasBegun = true;
        return nowNs;
    }

    @Test
    void whoComesBackLateSleepsNextTime() {
        awayNs = LONG_NS;
        pollUntilItGivesWay();
        assertThat(bed.sleeps).hasValue(0);
        poll();
        assertThat(bed.sleeps).hasValue(1);
        assertThat(bed.longestNs).isBetween(1L, 1_000_000L);
    }

    private void pollUntilItGivesWay() {
        for (int i = 0; i < PollPace.PATIENT_POLLS; i++) {
            poll();
        }
    }

    /** It is about to wait: giving way would leave the processor to others for milliseconds, whatever arrives. */
    @Test
    void whoLooksOnceAndThenWaitsDoesNotGiveWay() {
        awayNs = LONG_NS;
        for (int i = 0; i < 3 * PollPace.PATIENT_POLLS; i++) {
            poll();
            driver.stopAttending();
        }
        assertThat(bed.sleeps).hasValue(0);
    }

    /** A server with many connections looks after each message that it handles: giving way then would cost it a turn each time. */
    @Test
    void whoFindsOrPostsWorkBetweenItsLooksDoesNotGiveWay() {
        awayNs = LONG_NS;
        for (int i = 0; i < 3 * PollPace.PATIENT_POLLS; i++) {
            poll();
            driver.noteWork();
        }
        assertThat(bed.sleeps).hasValue(0);
    }

    @Test
    void whoDoesSomethingElseBetweenItsLooksDoesNotGiveWay() {
        awayNs = LONG_NS;
        pauseNs = PollPace.SPINNING_NS + 1;
        for (int i = 0; i < 3 * PollPace.PATIENT_POLLS; i++) {
            poll();
        }
        assertThat(bed.sleeps).hasValue(0);
    }

    /** As interpreted code does: it is no less a poller for that. */
    @Test
    void whosePollsAreSlowGivesWayLikeOthers() {
        awayNs = LONG_NS;
        bed.roundNs = 3 * PollPace.SPINNING_NS;
        pollUntilItGivesWay();
        assertThat(bed.sleeps).hasValue(0);
        poll();
        assertThat(bed.sleeps).hasValue(1);
    }

    @Test
    void whoComesBackAtOnceDoesNotSleep() {
        awayNs = ProcessorContention.LONG_NS / 2;
        for (int i = 0; i < 100; i++) {
            poll();
        }
        assertThat(bed.sleeps).hasValue(0);
    }

    @Test
    void whoHasToBeAwakeSoonSleepsNoLonger() {
        awayNs = LONG_NS;
        pollUntilItGivesWay();
        bed.dueNs = clock.get() + pauseNs + 50_000;
        poll();
        assertThat(bed.longestNs).isEqualTo(50_000);
    }

    @Test
    void itIsTriedAgainEverMoreRarely() {
        AtomicLong now = new AtomicLong();
        ProcessorContention contention = new ProcessorContention(now::get);
        for (long trustNs = ProcessorContention.SHORTEST_TRUST_NS; trustNs < ProcessorContention.LONGEST_TRUST_NS; trustNs *= 2) {
            assertTrusted(contention, now, trustNs);
        }
        assertTrusted(contention, now, ProcessorContention.LONGEST_TRUST_NS);
        assertTrusted(contention, now, ProcessorContention.LONGEST_TRUST_NS);
        // The other thread was on another processor for a moment.
        contention.yieldProcessor(now.get());
        assertTrusted(contention, now, ProcessorContention.LONGEST_TRUST_NS);
        // There was none for as long.
        contention.yieldProcessor(now.addAndGet(ProcessorContention.LONGEST_TRUST_NS + 1));
        assertTrusted(contention, now, ProcessorContention.SHORTEST_TRUST_NS);
    }

    /** Another thread is active, and is remembered for so long. */
    private static void assertTrusted(ProcessorContention contention, AtomicLong now,
            long trustNs) {
        assertThat(contention.isContended(now.get())).isFalse();
        contention.yieldProcessor(now.getAndAdd(LONG_NS));
        assertThat(contention.isContended(now.addAndGet(trustNs) - 1)).isTrue();
        assertThat(contention.isContended(now.get())).isFalse();
    }

    /** Counts who sleeps in it. */
    private final class Bed extends QuietLink {
        final AtomicInteger sleeps = new AtomicInteger();
        long longestNs;
        long dueNs = Long.MAX_VALUE;
        long roundNs;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            clock.addAndGet(roundNs);
            return false;
        }

        @Override
        public long deadlineNs() {
            return dueNs;
        }

        @Override
        public void await(long timeoutNs) {
            sleeps.incrementAndGet();
            longestNs = Math.max(longestNs, timeoutNs);
        }
    }
}
