// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When a poll leaves the engine alone because nothing has come. */
class GlancesTest {
    private static final long BRISKLY_NS = PollPace.BRISK_NS / (2 * PollPace.GLANCES);

    private final AtomicLong clock = new AtomicLong(1_000_000_000);
    private final Seen link = new Seen();
    private final Engine engine = new Engine(() -> 1, link);
    private int readings;
    private final EngineDriver driver = new EngineDriver(engine, () -> {
        readings++;
        return clock.get();
    }, null, () -> {});

    private final class Seen extends QuietLink {
        boolean isQuiet = true;
        boolean hasMessage;
        int rounds;

        @Override
        public boolean isQuiet() {
            return isQuiet;
        }

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            rounds++;
            if (hasMessage) {
                engine.onDelivered();
            }
            return false;
        }

        @Override
        public boolean hasReceived() {
            return hasMessage;
        }
    }

    private int roundsOf(int polls, long eachNs) {
        int before = link.rounds;
        for (int i = 0; i < polls; i++) {
            clock.addAndGet(eachNs);
            driver.poll();
        }
        return link.rounds - before;
    }

    /** The first one comes after a pause. */
    @BeforeEach
    void pollBriskly() {
        int polls = 1 + PollPace.BRISK_POLLS;
        assertThat(roundsOf(polls, BRISKLY_NS)).isEqualTo(polls);
    }

    @Test
    void onlySomePollsInARowDo() {
        assertThat(roundsOf(PollPace.GLANCES, BRISKLY_NS)).isZero();
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        assertThat(roundsOf(3 * (PollPace.GLANCES + 1), BRISKLY_NS)).isEqualTo(3);
    }

    @Test
    void theyDoNotReadTheClock() {
        int before = readings;
        roundsOf(PollPace.GLANCES, BRISKLY_NS);
        assertThat(readings).isEqualTo(before);
    }

    /** Few polls before it is known that it has become slow. */
    @Test
    void ofASlowPollerNoneDoes() {
        assertThat(roundsOf(PollPace.GLANCES, PollPace.BRISK_NS)).isZero();
        assertThat(roundsOf(100, PollPace.BRISK_NS)).isEqualTo(100);
    }

    /** As of a program that polls two queues and then does something else. */
    @Test
    void ofWhoPollsInBurstsNoneDoes() {
        roundsOf(PollPace.GLANCES, BRISKLY_NS);
        for (int i = 0; i < 100; i++) {
            assertThat(roundsOf(1, PollPace.BRISK_NS)).isOne();
            assertThat(roundsOf(PollPace.BRISK_POLLS - 1, BRISKLY_NS))
                    .isEqualTo(PollPace.BRISK_POLLS - 1);
        }
    }

    @Test
    void ofWhoAlsoPostsNoneDoes() {
        for (int i = 0; i < 20; i++) {
            driver.noteWork();
            assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        }
    }

    @Test
    void ofWhoHasWaitedNoneDoes() {
        driver.stopAttending();
        assertThat(roundsOf(PollPace.BRISK_POLLS, BRISKLY_NS))
                .isEqualTo(PollPace.BRISK_POLLS);
    }

    /** What it is about to wait for, it drives itself. */
    @Test
    void ofAnotherThreadNoneDoes() throws InterruptedException {
        int before = link.rounds;
        Thread other = Thread.ofPlatform().start(driver::poll);
        other.join();
        assertThat(link.rounds).isEqualTo(before + 1);
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
    }

    @Test
    void whatHasComeIsTakenAtOnce() {
        link.isQuiet = false;
        assertThat(roundsOf(3, BRISKLY_NS)).isEqualTo(3);
    }

    @Test
    void whatIsHeldBackIsSentAtOnce() {
        link.isQuiet = false;
        link.hasMessage = true;
        roundsOf(1, BRISKLY_NS);
        link.isQuiet = true;
        link.hasMessage = false;
        assertThat(driver.holdsSomethingBack()).isTrue();
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        assertThat(driver.holdsSomethingBack()).isFalse();
    }

    @Test
    void whatThereIsToSendIsSentAtOnce() {
        engine.touched(new QuietQueuePair(engine) {
        });
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        assertThat(roundsOf(1, BRISKLY_NS)).isZero();
    }
}
