// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When a poll leaves the engine alone because nothing has come. */
class GlancesTest {
    private static final long BRISKLY_NS = EngineDriver.GLANCES_NS / (2 * EngineDriver.GLANCES);

    private final AtomicLong clock = new AtomicLong(1_000_000_000);
    private final Seen link = new Seen();
    private final Engine engine = new Engine(() -> 1, link);
    private int readings;
    private final EngineDriver driver = new EngineDriver(engine, () -> {
        readings++;
        return clock.get();
    }, null, () -> {});

    private static final class Seen extends QuietLink {
        boolean isQuiet = true;
        boolean brings;
        int rounds;

        @Override
        public boolean isQuiet() {
            return isQuiet;
        }

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            rounds++;
            return false;
        }

        @Override
        public boolean hasReceived() {
            return brings;
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

    /** The second poll tells that the thread comes back at once. */
    @BeforeEach
    void pollTwice() {
        assertThat(roundsOf(2, BRISKLY_NS)).isEqualTo(2);
    }

    @Test
    void onlySomePollsInARowDo() {
        assertThat(roundsOf(EngineDriver.GLANCES, BRISKLY_NS)).isZero();
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        assertThat(roundsOf(3 * (EngineDriver.GLANCES + 1), BRISKLY_NS)).isEqualTo(3);
    }

    @Test
    void theyDoNotReadTheClock() {
        int before = readings;
        roundsOf(EngineDriver.GLANCES, BRISKLY_NS);
        assertThat(readings).isEqualTo(before);
    }

    @Test
    void ofASlowPollerNoneDoes() {
        roundsOf(EngineDriver.GLANCES, EngineDriver.GLANCES_NS);
        assertThat(roundsOf(10, EngineDriver.GLANCES_NS)).isEqualTo(10);
    }

    @Test
    void whatHasComeIsTakenAtOnce() {
        link.isQuiet = false;
        assertThat(roundsOf(3, BRISKLY_NS)).isEqualTo(3);
    }

    @Test
    void afterSomethingWasFoundTheNextOneDoes() {
        link.isQuiet = false;
        link.brings = true;
        roundsOf(1, BRISKLY_NS);
        link.isQuiet = true;
        link.brings = false;
        assertThat(roundsOf(1, BRISKLY_NS)).isZero();
    }

    @Test
    void whatThereIsToSendIsSentAtOnce() {
        engine.touched(new QuietQueuePair(engine) {
        });
        assertThat(roundsOf(1, BRISKLY_NS)).isOne();
        assertThat(roundsOf(1, BRISKLY_NS)).isZero();
    }
}
