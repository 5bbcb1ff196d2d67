// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;

/** What threads leave to the engine's thread that poll again and again, or lead for a while, and handle by themselves what they wait for. */
@Timeout(60)
class SocketEngineTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(2);
    /** By when that thread, which may lead now, has given way. */
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private final SocketEngine engine = SocketEngine.ofProcess();
    private final AtomicBoolean isHandled = new AtomicBoolean();

    /** {@return whether it was done in time} A thread that the system keeps from its processor meanwhile may not count as one that polls: then this says less. */
    private boolean poll(BooleanSupplier isDone, long forNs) {
        long startNs = System.nanoTime();
        while (!isDone.getAsBoolean() && System.nanoTime() - startNs < forNs) {
            engine.moved();
            Thread.onSpinWait();
        }
        return isDone.getAsBoolean();
    }

    @BeforeEach
    void settle() {
        assertThat(poll(() -> false, SETTLED_NS)).isFalse();
    }

    @Test
    void eventsOfOthersAreHandled() throws Exception {
        try (CmId id = engine.newId(event -> isHandled.set(true))) {
            for (int i = 0; i < 20; i++) {
                isHandled.set(false);
                id.writeEvent(0, 0);
                assertThat(poll(isHandled::get, PATIENCE_NS)).isTrue();
            }
        }
    }

    @Test
    void timersRun() {
        engine.schedule(Duration.ofMillis(100), () -> isHandled.set(true));
        assertThat(poll(isHandled::get, PATIENCE_NS)).isTrue();
    }

    /**
     * A thread has led, and does something else. The engine's thread, which has rested, takes over soon.
     *
     * @param ledMs a moment, or so long that the rest is a long one
     */
    @ParameterizedTest
    @ValueSource(longs = {5, 200})
    void eventsAreHandledSoonAfterAThreadHasLed(long ledMs) throws Exception {
        try (CmId id = engine.newId(event -> isHandled.set(true))) {
            List<Long> tookNs = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                isHandled.set(false);
                Wait.until("it leads", engine::tryLead);
                engine.lead(() -> false, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ledMs));
                engine.stopLeading();
                long startNs = System.nanoTime();
                id.writeEvent(0, 0);
                Wait.until("it is handled", isHandled::get);
                tookNs.add(System.nanoTime() - startNs);
            }
            // Other programs may have the processors for a while.
            assertThat(Collections.min(tookNs)).as("%s", tookNs).isLessThan(SOON_NS);
        }
    }

    /** The same, while others sleep: the thread that alone gets anything leads for them, and is not always there. */
    @ParameterizedTest
    @ValueSource(longs = {5, 200})
    void eventsAreHandledSoonAfterAThreadHasLedForOthers(long ledMs) throws Exception {
        try (CmId id = engine.newId(event -> isHandled.set(true))) {
            List<Long> tookNs = new ArrayList<>();
            engine.onSleep();
            try {
                for (int i = 0; i < 3; i++) {
                    isHandled.set(false);
                    Wait.until("it leads", this::leadsIfAlone);
                    engine.lead(() -> false,
                            System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ledMs));
                    engine.onServed();
                    engine.stopLeading();
                    long startNs = System.nanoTime();
                    id.writeEvent(0, 0);
                    Wait.until("it is handled", isHandled::get);
                    tookNs.add(System.nanoTime() - startNs);
                }
            } finally {
                engine.onAwake();
            }
            // Other programs may have the processors for a while.
            assertThat(Collections.min(tookNs)).as("%s", tookNs).isLessThan(SOON_NS);
        }
    }

    /** {@return whether the calling thread leads, which has slept and got something} If it is called again and again, no other thread gets anything. */
    private boolean leadsIfAlone() {
        engine.onSleep();
        engine.onAwake();
        engine.onServed();
        return engine.tryLead();
    }

    /** A thread that leads, and for which nothing has come, makes room for the only one that gets anything, but for no other. */
    @Test
    void onlyThreadThatGetsAnythingTakesOver() throws Exception {
        CountDownLatch isLeading = new CountDownLatch(1);
        AtomicBoolean mayEnd = new AtomicBoolean();
        AtomicBoolean hasGivenWay = new AtomicBoolean();
        Thread idle = Thread.ofPlatform().start(() -> {
            Wait.until("it leads", engine::tryLead);
            isLeading.countDown();
            engine.lead(mayEnd::get, Long.MAX_VALUE);
            hasGivenWay.set(!mayEnd.get());
            engine.stopLeading();
        });
        try {
            isLeading.await();
            Thread other = Thread.ofPlatform().start(engine::onServed);
            other.join();
            long untilNs = System.nanoTime() + SETTLED_NS;
            while (System.nanoTime() < untilNs) {
                engine.onSleep();
                engine.onAwake();
                assertThat(engine.tryLead()).as("nothing has come for this thread").isFalse();
            }
            Wait.until("this thread leads", this::leadsIfAlone);
            assertThat(engine.isLedByCaller()).isTrue();
            engine.stopLeading();
        } finally {
            mayEnd.set(true);
            engine.wakeLeader();
            idle.join();
        }
        assertThat(hasGivenWay).isTrue();
    }

    /** A defect of one connection, and then one of the log, end neither the thread nor what it does for the others. */
    @Test
    void othersAreHandledThoughALogFails() throws Exception {
        Logger logger = Logger.getLogger(SocketEngine.class.getName());
        CountDownLatch hasFailed = new CountDownLatch(1);
        Handler failing = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                hasFailed.countDown();
                throw new OutOfMemoryError("of the test");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(failing);
        try {
            engine.execute(() -> {
                throw new IllegalStateException("of the test");
            });
            hasFailed.await();
            CountDownLatch hasRun = new CountDownLatch(1);
            engine.execute(hasRun::countDown);
            assertThat(hasRun.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            logger.removeHandler(failing);
        }
    }
}
