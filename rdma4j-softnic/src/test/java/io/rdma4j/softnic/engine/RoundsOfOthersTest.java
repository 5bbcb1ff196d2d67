// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** A thread that waits sleeps by what the last round has left, also if that was another thread's. */
@Timeout(60)
class RoundsOfOthersTest {
    private static final long PATIENCE_SECONDS = 10;

    /** By how much the clock is ahead. */
    private final AtomicLong aheadNs = new AtomicLong();
    private final Sleepers link = new Sleepers();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private volatile Thread waiting = new Thread();
    private Runnable afterRound = () -> {};
    private final Engine engine = new Engine(() -> 1, link);
    private final EngineDriver driver = new EngineDriver(engine, this::timeNs, "background",
            () -> {});

    private final class Sleepers extends QuietLink {
        private final Semaphore wakeUps = new Semaphore(0);
        final CountDownLatch isTimerServed = new CountDownLatch(1);
        final CountDownLatch roundsOfWaiter = new CountDownLatch(2);
        final CountDownLatch hasBackgroundServed = new CountDownLatch(1);
        volatile long deadlineNs = Long.MAX_VALUE;
        volatile boolean isRoundOfWaiter;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            isRoundOfWaiter = Thread.currentThread().equals(waiting);
            (isRoundOfWaiter ? roundsOfWaiter : hasBackgroundServed).countDown();
            return false;
        }

        @Override
        public void onTime(long nowNs) {
            if (nowNs >= deadlineNs) {
                deadlineNs = Long.MAX_VALUE;
                isTimerServed.countDown();
            }
        }

        @Override
        public long deadlineNs() {
            return deadlineNs;
        }

        @Override
        public void await(long timeoutNs) {
            try {
                if (timeoutNs == Long.MAX_VALUE) {
                    wakeUps.acquire();
                    wakeUps.drainPermits();
                } else {
                    aheadNs.addAndGet(Math.max(0, timeoutNs));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void wake() {
            wakeUps.release();
        }
    }

    /** Called between a round and the sleep after it, and without the lock of the engine then. */
    private long timeNs() {
        if (link.isRoundOfWaiter && Thread.currentThread().equals(waiting)) {
            link.isRoundOfWaiter = false;
            Runnable once = afterRound;
            afterRound = () -> {};
            once.run();
        }
        return System.nanoTime() + aheadNs.get();
    }

    private void startWaiting() {
        Semaphore isFree = new Semaphore(0);
        ProgressDriver.Waiter waiter = new ProgressDriver.Waiter() {
            @Override
            public boolean isDone() {
                return isOver.get();
            }

            @Override
            public boolean isUrgent() {
                return true;
            }

            @Override
            public boolean onDriverFree() {
                isFree.release();
                return true;
            }
        };
        Thread.ofPlatform().daemon().start(() -> {
            while (!driver.progress().tryAcquire(waiter)) {
                isFree.acquireUninterruptibly();
            }
            waiting = Thread.currentThread();
            driver.progress().drive(Long.MAX_VALUE);
            driver.progress().release();
        });
    }

    @AfterEach
    void close() {
        isOver.set(true);
        link.wake();
        driver.close();
    }

    /** Between its round and its sleep another one has set a timer, and then the system has kept it waiting for two seconds. */
    @Test
    void timerThatAnotherThreadHasSetLongAgoIsServed() throws Exception {
        afterRound = () -> {
            Thread other = Thread.ofPlatform().start(
                    () -> driver.run(nowNs -> link.deadlineNs = nowNs + 20_000_000));
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            aheadNs.addAndGet(2_000_000_000);
        };
        // The background thread is not started: nobody else serves the timer.
        startWaiting();
        assertThat(link.isTimerServed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** The background thread has run rounds until the waiter came. What the last one has left may be unknown to that, so it runs another one. */
    @Test
    void waiterRunsARoundAfterThoseOfTheBackgroundThread() throws Exception {
        driver.start();
        link.hasBackgroundServed.await();
        aheadNs.addAndGet(2_000_000_000);
        startWaiting();
        assertThat(link.roundsOfWaiter.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }
}
