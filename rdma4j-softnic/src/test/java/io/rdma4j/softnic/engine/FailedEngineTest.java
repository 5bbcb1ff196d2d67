// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What becomes of an engine whose rounds throw errors. */
@Timeout(60)
class FailedEngineTest {
    /** A link that throws as often as a test wants. */
    private static final class BadLink extends QuietLink {
        final AtomicInteger failures = new AtomicInteger();
        final AtomicInteger thrown = new AtomicInteger();
        /** Rounds of the background thread that went well. */
        final AtomicInteger well = new AtomicInteger();
        /** In whose rounds it throws. */
        volatile Predicate<Thread> failing = _ -> true;
        private final Semaphore wakes = new Semaphore(0);

        @Override
        public boolean beginTransmit(long nowNs) {
            if (failing.test(Thread.currentThread())
                    && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                thrown.incrementAndGet();
                throw new InternalError("bad link");
            }
            if (isBackground(Thread.currentThread())) {
                well.incrementAndGet();
            }
            return true;
        }

        @Override
        public void await(long timeoutNs) {
            try {
                wakes.tryAcquire(timeoutNs, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void wake() {
            wakes.release();
        }
    }

    private static boolean isBackground(Thread thread) {
        return thread.getName().equals("background");
    }

    private final BadLink link = new BadLink();
    private final Engine engine = new Engine(() -> 7, link);
    private final AtomicInteger fatal = new AtomicInteger();

    private final EngineDriver driver = new EngineDriver(engine, System::nanoTime, "background",
            this::onFatal);

    /** As a device does: it changes its queue pairs, in tasks of the engine's owner. */
    private void onFatal() {
        driver.run(nowNs -> fatal.incrementAndGet());
    }

    @AfterEach
    void end() {
        driver.close();
    }

    @Test
    void handlingTheFailureRunsTheEngineNoMore() {
        link.failures.set(Integer.MAX_VALUE);
        driver.start();
        Wait.until("the device fails", () -> fatal.get() > 0);
        int thrown = link.thrown.get();
        driver.run(nowNs -> {});
        driver.poll();
        new PostedQueuePair(engine, driver).post(EngineQueuePair.SEND_DOORBELL);
        driver.lookAgain();
        assertThat(link.thrown).hasValue(thrown);
        assertThat(fatal).hasValue(1);
        assertThat(driver.hasFailed()).isTrue();
    }

    /** What it posts to a queue pair in state ERR is still to be flushed. */
    @Test
    void requestsAreTakenAfterTheFailure() {
        link.failures.set(Integer.MAX_VALUE);
        driver.start();
        Wait.until("the device fails", () -> fatal.get() > 0);
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        queuePair.post(EngineQueuePair.SEND_DOORBELL);
        queuePair.assertHeard();
    }

    /** The round after a task is not the business of the thread that has the task. */
    @Test
    void taskIsDoneThoughTheRoundAfterItFails() throws Exception {
        driver.start();
        driver.run(nowNs -> link.failures.set(1));
        assertThat(driver.<Integer>call(nowNs -> {
            link.failures.set(1);
            return 5;
        })).isEqualTo(5);
        Wait.until("the round is made up for", () -> link.failures.get() == 0);
        assertThat(driver.hasFailed()).isFalse();
    }

    /** Memory may have been short. */
    @Test
    void roundOfTheBackgroundThreadIsTriedAgain() {
        link.failing = FailedEngineTest::isBackground;
        link.failures.set(1);
        driver.start();
        Wait.until("another round goes well", () -> link.well.get() > 0);
        assertThat(link.thrown).hasValue(1);
        assertThat(driver.hasFailed()).isFalse();
    }

    /** Its stack may be at its end, where each round fails. */
    @Test
    void roundsOfAWaiterThatFailAreLeftToTheBackgroundThread() throws Exception {
        link.failing = thread -> !isBackground(thread);
        link.failures.set(Integer.MAX_VALUE);
        driver.start();
        ProgressDriver.Waiter waiter = new ProgressDriver.Waiter() {
            @Override
            public boolean isDone() {
                return false;
            }

            @Override
            public boolean isUrgent() {
                return true;
            }

            @Override
            public boolean onDriverFree() {
                return true;
            }
        };
        Thread waiting = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < 3; i++) {
                Wait.until("the driver is free", () -> driver.progress().tryAcquire(waiter));
                driver.progress().drive(Long.MAX_VALUE);
                driver.progress().release();
            }
        });
        assertThat(waiting.join(Duration.ofSeconds(20))).isTrue();
        assertThat(link.thrown).hasValue(3);
        Wait.until("the background thread makes up for it", () -> !driver.isInDoubt());
        assertThat(driver.hasFailed()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, Integer.MAX_VALUE})
    void postingDoesNotFailThoughTheRoundFails(int failures) {
        driver.start();
        PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
        link.failures.set(failures);
        queuePair.post(EngineQueuePair.SEND_DOORBELL);
        queuePair.assertHeard();
        if (failures > 1) {
            Wait.until("the device fails", () -> fatal.get() > 0);
        }
    }

    @Test
    void withoutABackgroundThreadTheCallerHearsOfIt() {
        EngineDriver alone = new EngineDriver(engine, System::nanoTime, null, () -> {});
        link.failures.set(1);
        assertThatExceptionOfType(InternalError.class).isThrownBy(() -> alone.run(nowNs -> {}));
        alone.run(nowNs -> {});
    }

    /** A thread at the end of its stack, for example. The queue pairs behind it are served as well. */
    @Test
    void doorbellThatFailedRingsAgain() {
        EngineDriver alone = new EngineDriver(engine, System::nanoTime, null, () -> {});
        PostedQueuePair first = new PostedQueuePair(engine, alone);
        PostedQueuePair second = new PostedQueuePair(engine, alone);
        AtomicInteger failures = new AtomicInteger(1);
        Runnable failing = () -> {
            if (failures.getAndDecrement() > 0) {
                throw new StackOverflowError();
            }
        };
        first.whenHeard(failing);
        second.whenHeard(failing);
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch posted = new CountDownLatch(1);
        CompletableFuture<Void> owner = CompletableFuture.runAsync(() -> alone.run(nowNs -> {
            busy.countDown();
            await(posted);
        }));
        await(busy);
        first.post(EngineQueuePair.SEND_DOORBELL);
        second.post(EngineQueuePair.SEND_DOORBELL);
        posted.countDown();
        assertThatExceptionOfType(CompletionException.class).isThrownBy(owner::join)
                .withCauseInstanceOf(StackOverflowError.class);
        alone.poll();
        first.assertHeard();
        second.assertHeard();
        assertThat(failures.get()).isNegative();
    }

    /** Asking for packets, or settling what the protocol changed, may be at the end of a stack as well. */
    @Test
    void queuePairIsAskedAgainAfterAnError() {
        EngineDriver alone = new EngineDriver(engine, System::nanoTime, null, () -> {});
        PostedQueuePair queuePair = new PostedQueuePair(engine, alone);
        AtomicInteger asked = new AtomicInteger();
        queuePair.whenAsked(() -> {
            if (asked.getAndIncrement() == 0) {
                throw new StackOverflowError();
            }
        });
        queuePair.whenSettled(new StackOverflowError());
        assertThatExceptionOfType(StackOverflowError.class)
                .isThrownBy(() -> alone.run(nowNs -> queuePair.touch()));
        assertThat(asked).hasValue(0);
        queuePair.whenSettled(null);
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(alone::poll);
        assertThat(asked).hasValue(1);
        queuePair.whenSettled(new StackOverflowError());
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(alone::poll);
        assertThat(asked).hasValue(2);
        queuePair.whenSettled(null);
        alone.poll();
        assertThat(asked).hasValue(3);
        alone.poll();
        assertThat(asked).hasValue(3);
    }

    @Test
    void pollingFindsNothingInARoundThatFails() {
        driver.start();
        link.failures.set(1);
        while (link.failures.get() > 0) {
            driver.poll();
        }
        assertThat(driver.hasFailed()).isFalse();
        link.failures.set(Integer.MAX_VALUE);
        while (!driver.hasFailed()) {
            driver.poll();
        }
        Wait.until("it is handled", () -> fatal.get() == 1);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
