// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Virtual threads that wait for a time at most. */
@Timeout(60)
class VirtualWaitTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final EventQueue<Integer, RdmaException> events = Events.queue();

    private static <T> FutureTask<T> virtual(Callable<T> action) {
        FutureTask<T> task = new FutureTask<>(action);
        Thread.ofVirtual().start(task);
        return task;
    }

    private FutureTask<@Nullable Integer> poll(Duration timeout) {
        return virtual(() -> events.poll(timeout));
    }

    private static long millis(FutureTask<Long> elapsed) throws Exception {
        return elapsed.get() / 1_000_000;
    }

    private FutureTask<Long> emptyPoll(Duration timeout) {
        return virtual(() -> {
            long startNs = System.nanoTime();
            assertThat(events.poll(timeout)).isNull();
            return System.nanoTime() - startNs;
        });
    }

    @Test
    void aWaitEndsWhenItsTimeIsUpAndNotBefore() throws Exception {
        for (int ms : new int[]{1, 20, 5, 50}) {
            assertThat(millis(emptyPoll(Duration.ofMillis(ms)))).isGreaterThanOrEqualTo(ms);
        }
    }

    @Test
    void aShortWaitBesideALongOneEndsInTime() throws Exception {
        FutureTask<@Nullable Integer> patient = poll(LONG);
        assertThat(millis(emptyPoll(Duration.ofMillis(10)))).isLessThan(30_000);
        assertThat(patient.isDone()).isFalse();
        events.publish(7);
        assertThat(patient.get()).isEqualTo(7);
    }

    @Test
    void waitsThatEndAtDifferentTimesAllEnd() throws Exception {
        List<FutureTask<Long>> waits = new ArrayList<>();
        for (int ms = 100; ms > 0; ms -= 5) {
            waits.add(emptyPoll(Duration.ofMillis(ms)));
        }
        for (FutureTask<Long> each : waits) {
            each.get();
        }
    }

    /** One timer serves many waits: the time of the first ends none of those that follow. */
    @Test
    void aTimerOfAnEarlierWaitDoesNotEndALaterOne() throws Exception {
        FutureTask<@Nullable Integer> first = poll(Duration.ofMillis(30));
        events.publish(1);
        assertThat(first.get()).isEqualTo(1);
        assertThat(millis(emptyPoll(Duration.ofMillis(80)))).isGreaterThanOrEqualTo(80);
    }

    /** A device that is asked to drive, and does not. */
    private static final class AskedDevice extends IdleDriver {
        private final CompletableFuture<Boolean> wasAsked = new CompletableFuture<>();

        @Override
        public boolean tryAcquire(Waiter waiter) {
            wasAsked.complete(true);
            return false;
        }
    }

    @Test
    void aWaitEndsInTimeThoughItsLastDeviceHasLeft() throws Exception {
        AskedDevice device = new AskedDevice();
        events.addDriver(device);
        FutureTask<Long> wait = emptyPoll(Duration.ofMillis(200));
        device.wasAsked.get();
        events.removeDriver(device);
        assertThat(millis(wait)).isGreaterThanOrEqualTo(200);
    }

    @Test
    void closingAndInterruptionEndALongWait() throws Exception {
        List<String> ends = new ArrayList<>();
        Thread interrupted = Thread.ofVirtual().start(() -> {
            try {
                events.poll(LONG);
            } catch (RdmaException e) {
                ends.add(e.errno() == Errno.EINTR ? "interrupted" : e.getMessage());
            }
        });
        interrupted.interrupt();
        interrupted.join();
        assertThat(ends).containsExactly("interrupted");
        FutureTask<@Nullable Integer> waiting = poll(LONG);
        events.close();
        assertThatExceptionOfType(Exception.class).isThrownBy(waiting::get)
                .withMessageContaining("EBADF");
    }
}
