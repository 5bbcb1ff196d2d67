// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** A thread that sleeps wakes by itself for what others may have left after traffic, ever more rarely, and at last not at all. */
@Timeout(60)
class RareLooksTest {
    private static final long SHORTEST_NS = 5_000_000;
    private static final long PATIENCE_SECONDS = 10;

    private final AtomicLong nowNs = new AtomicLong();
    private final Sleeps link = new Sleeps();
    private final EngineDriver driver = new EngineDriver(new Engine(() -> 1, link), nowNs::get,
            "background", () -> {});

    /** On which nothing arrives, and time passes while a thread sleeps. */
    private final class Sleeps extends QuietLink {
        final List<Long> lengthsNs = new CopyOnWriteArrayList<>();
        final CountDownLatch isAtRest = new CountDownLatch(1);
        private final Semaphore wakeUps = new Semaphore(0);

        @Override
        public void await(long timeoutNs) {
            if (timeoutNs == Long.MAX_VALUE) {
                isAtRest.countDown();
                wakeUps.acquireUninterruptibly();
                return;
            }
            lengthsNs.add(timeoutNs);
            nowNs.addAndGet(Math.max(1, timeoutNs));
        }

        @Override
        public void wake() {
            wakeUps.release();
        }
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void sleepsBecomeLongerUntilTheyHaveNoLimit() throws InterruptedException {
        driver.start();
        assertThat(link.isAtRest.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(link.lengthsNs).isSorted().hasSizeBetween(4, 20)
                .startsWith(SHORTEST_NS, SHORTEST_NS);
        assertThat(nowNs.get()).isBetween(1_000_000_000L, 2_000_000_000L);
    }

    /** Whoever has work for later wakes a thread that would sleep for long. */
    @Test
    void threadThatWouldSleepForLongIsWoken() throws InterruptedException {
        driver.start();
        assertThat(link.isAtRest.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        int before = link.lengthsNs.size();
        driver.lookAgain();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (link.lengthsNs.size() == before && System.nanoTime() < endNs) {
            Thread.onSpinWait();
        }
        assertThat(link.lengthsNs).hasSizeGreaterThan(before);
        assertThat(link.lengthsNs.get(before)).isEqualTo(SHORTEST_NS);
    }
}
