// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads of both kinds want one engine. */
@Timeout(60)
class EngineLockTest {
    private static final int TIMES = 2_000;

    private final AtomicInteger vainAttempts = new AtomicInteger();
    private final EngineLock lock = new EngineLock(vainAttempts::incrementAndGet);
    private volatile boolean isOver;
    private int count;

    /** One that waits for the engine, and others that only compute, as many as there are carriers. */
    @Test
    void virtualThreadWithoutACarrierKeepsNobodyOut() throws InterruptedException {
        lock.enter();
        Thread waiting = Thread.ofVirtual().start(this::countOnce);
        Wait.until("it has tried", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        assertThat(vainAttempts.get()).isPositive();
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch computing = new CountDownLatch(carriers);
        for (int i = 0; i < carriers; i++) {
            Thread.ofVirtual().start(() -> {
                computing.countDown();
                while (!isOver) {
                    Thread.onSpinWait();
                }
            });
        }
        try {
            computing.await();
            lock.lock.unlock();
            Thread other = Thread.ofPlatform().daemon().start(() -> {
                lock.enterBesidePollers();
                lock.lock.unlock();
            });
            other.join();
            assertThat(lock.waiting.get()).isZero();
        } finally {
            isOver = true;
        }
        waiting.join();
        assertThat(count).isOne();
    }

    private void countOnce() {
        lock.enter();
        try {
            count++;
        } finally {
            lock.lock.unlock();
        }
    }

    @Test
    void threadsOfBothKindsTakeTurns() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            threads.add(
                    (i % 2 == 0 ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(() -> {
                        for (int turn = 0; turn < TIMES; turn++) {
                            countOnce();
                        }
                    }));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertThat(count).isEqualTo(threads.size() * TIMES);
        assertThat(lock.waiting.get()).isZero();
    }

    /** What interrupts it is for others to see. */
    @Test
    void interruptedVirtualThreadGetsItAsWell() throws InterruptedException {
        lock.enter();
        boolean[] isInterrupted = new boolean[1];
        Thread waiting = Thread.ofVirtual().start(() -> {
            countOnce();
            isInterrupted[0] = Thread.currentThread().isInterrupted();
        });
        waiting.interrupt();
        Wait.until("it has tried", () -> lock.waiting.get() > 0);
        lock.lock.unlock();
        waiting.join();
        assertThat(count).isOne();
        assertThat(isInterrupted[0]).isTrue();
    }
}
