// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thread that interrupts itself calls no interruption handler, just as the JVM does when it closes an arena.
 */
@SuppressWarnings("ThreadPriorityCheck") // Yielding lets the race go on, and decides nothing.
class InterruptStatusTest {
    private static final long RACE_NS = 700_000_000;
    private static final long PATIENCE_NS = 30_000_000_000L;

    private final InterruptStatus status = InterruptStatus.ofCurrentThread();

    @AfterEach
    void clear() {
        status.unwatch();
        Thread.interrupted();
    }

    private static void markAsTheJvmDoes() {
        Thread.currentThread().interrupt();
    }

    private static void interruptFromElsewhere(Thread thread) throws Exception {
        Thread other = Thread.ofPlatform().start(thread::interrupt);
        // Joining would notice the interrupt.
        Wait.until("the other thread has ended", () -> !other.isAlive());
    }

    private boolean isInterruptedAfterMark() {
        status.protect();
        markAsTheJvmDoes();
        status.restore();
        return Thread.interrupted();
    }

    private boolean isInterruptedAfterInterrupt() throws Exception {
        status.protect();
        interruptFromElsewhere(Thread.currentThread());
        status.restore();
        return Thread.interrupted();
    }

    @Test
    void whatTheJvmHasMarkedIsTakenBack() {
        assertThat(isInterruptedAfterMark()).isFalse();
    }

    @Test
    void whoWasInterruptedStaysSo() throws Exception {
        assertThat(isInterruptedAfterInterrupt()).isTrue();
    }

    @Test
    void whoWasInterruptedBeforeStaysSo() {
        markAsTheJvmDoes();
        status.protect();
        status.restore();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void interruptsBesideAMarkAreKept() throws Exception {
        status.protect();
        markAsTheJvmDoes();
        interruptFromElsewhere(Thread.currentThread());
        status.restore();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void markAfterATakenBackOneIsTakenBackToo() throws Exception {
        assertThat(isInterruptedAfterMark()).isFalse();
        assertThat(isInterruptedAfterMark()).isFalse();
        assertThat(isInterruptedAfterInterrupt()).isTrue();
        assertThat(isInterruptedAfterMark()).isFalse();
    }

    @Test
    void whoeverWatchesIsToldOfInterruptsAndNotOfMarks() throws Exception {
        // An interrupt right behind a mark that was taken back tells twice.
        assertThat(isInterruptedAfterInterrupt()).isTrue();
        AtomicInteger told = new AtomicInteger();
        status.watch(told::incrementAndGet);
        markAsTheJvmDoes();
        assertThat(told).hasValue(0);
        interruptFromElsewhere(Thread.currentThread());
        assertThat(told).hasValue(1);
        status.watch(told::incrementAndGet);
        assertThat(told).hasValue(2);
    }

    /** One interrupts at any moment and waits until it is noticed; the other is marked by the JVM all the while. */
    @Test
    void noInterruptIsLostAmongMarks() {
        Thread driver = Thread.currentThread();
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger noticed = new AtomicInteger();
        long raceEndNs = System.nanoTime() + RACE_NS;
        Thread interrupter = Thread.ofPlatform().start(() -> {
            while (System.nanoTime() < raceEndNs) {
                int number = begun.incrementAndGet();
                driver.interrupt();
                while (noticed.get() < number && System.nanoTime() < raceEndNs + PATIENCE_NS) {
                    Thread.yield();
                }
            }
        });
        Wait.until("the interrupter has ended", () -> !interrupter.isAlive(), () -> {
            if (isInterruptedAfterMark()) {
                noticed.incrementAndGet();
                Thread.yield();
            }
        });
        assertThat(begun.get()).isPositive();
        assertThat(noticed.get()).isGreaterThanOrEqualTo(begun.get());
    }
}
