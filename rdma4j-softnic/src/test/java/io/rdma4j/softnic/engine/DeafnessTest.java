// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** How long those who only have something to send may go on without receiving. */
class DeafnessTest {
    private static final long MS = 1_000_000;

    private final AtomicLong clock = new AtomicLong(10 * MS);
    private final CountingLink link = new CountingLink();
    private final EngineDriver driver = new EngineDriver(new Engine(() -> 100, link), clock::get,
            null, () -> {});

    private static final class CountingLink extends QuietLink {
        private int looks;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            looks++;
            return false;
        }
    }

    private int looksOfTasks(int count, long eachNs) {
        int before = link.looks;
        for (int i = 0; i < count; i++) {
            clock.addAndGet(eachNs);
            driver.run(nowNs -> {});
        }
        return link.looks - before;
    }

    /** A program that sends one message looks for the answer by itself. */
    @Test
    void whoSendsAFewMessagesDoesNotReceive() {
        assertThat(looksOfTasks(8, MS)).isZero();
    }

    @Test
    void whoSendsManyReceivesNowAndThen() {
        assertThat(looksOfTasks(90, MS)).isEqualTo(10);
    }

    @Test
    void whoSendsManyInAShortTimeDoesNotReceive() {
        assertThat(looksOfTasks(1000, 100)).isZero();
    }

    @Test
    void whoPollsBetweenThemReceivesForThem() {
        for (int i = 0; i < 100; i++) {
            assertThat(looksOfTasks(2, MS)).isZero();
            driver.poll();
        }
    }
}
