// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

@EnabledOnOs(OS.LINUX)
class CoarseClockTest {
    private static final long MS = 1_000_000;
    /** No system ticks more rarely than a hundred times a second. */
    private static final long TICK_NS = 10 * MS;

    private final CoarseClock clock = new CoarseClock();

    @Test
    void itGoesAsTheOtherClockDoes() {
        long beforeNs = System.nanoTime();
        long begunNs = clock.nowNs();
        long begunLatestNs = System.nanoTime();
        while (System.nanoTime() - begunLatestNs < 5 * TICK_NS) {
            LockSupport.parkNanos(TICK_NS);
        }
        long endedEarliestNs = System.nanoTime();
        long passedNs = clock.nowNs() - begunNs;
        long afterNs = System.nanoTime();
        assertThat(passedNs).isBetween(endedEarliestNs - begunLatestNs - 2 * TICK_NS,
                afterNs - beforeNs + 2 * TICK_NS);
    }

    @Test
    void itDoesNotGoBack() {
        long lastNs = clock.nowNs();
        for (int i = 0; i < 100_000; i++) {
            long nowNs = clock.nowNs();
            assertThat(nowNs >= lastNs).isTrue();
            lastNs = nowNs;
        }
    }
}
