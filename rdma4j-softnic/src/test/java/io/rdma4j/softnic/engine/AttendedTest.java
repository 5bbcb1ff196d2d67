// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When a device is left to those who poll and post. */
class AttendedTest {
    private final AtomicLong clock = new AtomicLong(10_000_000);
    private final Engine engine = new Engine(() -> 100, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, clock::get, null, () -> {});

    @Test
    void aDeviceIsAttendedWhileSomebodyPolls() {
        assertThat(driver.attendedForNs()).isNotPositive();
        driver.poll();
        assertThat(driver.attendedForNs()).isEqualTo(PollPace.POLLING_NS);
        clock.addAndGet(PollPace.POLLING_NS);
        assertThat(driver.attendedForNs()).isNotPositive();
    }

    @Test
    void aDeviceIsAttendedWhileSomebodyOwnsIt() {
        driver.run(nowNs -> assertThat(driver.attendedForNs()).isPositive());
        assertThat(driver.attendedForNs()).isNotPositive();
    }

    @Test
    void aDeviceIsAttendedForAMomentAfterSomebodyPosted() {
        new PostedQueuePair(engine, driver).post(EngineQueuePair.SEND_DOORBELL);
        long attendedNs = driver.attendedForNs();
        assertThat(attendedNs).isBetween(1L, PollPace.POLLING_NS - 1);
        clock.addAndGet(attendedNs);
        assertThat(driver.attendedForNs()).isNotPositive();
    }

    @Test
    void aDeviceIsNotAttendedByAThreadThatHasGoneToWait() {
        new PostedQueuePair(engine, driver).post(EngineQueuePair.SEND_DOORBELL);
        driver.stopAttending();
        assertThat(driver.attendedForNs()).isNotPositive();
        driver.poll();
        driver.stopAttending();
        assertThat(driver.attendedForNs()).isNotPositive();
    }

    @Test
    void aDeviceIsNotAttendedWhereDoorbellsWereLeft() {
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        // Another thread that finds an owner each time and relies on it.
        queuePair.whenHeard(() -> CompletableFuture
                .runAsync(() -> queuePair.post(EngineQueuePair.SEND_DOORBELL)).join());
        queuePair.post(EngineQueuePair.SEND_DOORBELL);
        assertThat(driver.attendedForNs()).isZero();
        queuePair.whenHeard(() -> {});
        driver.poll();
        assertThat(driver.attendedForNs()).isPositive();
    }
}
