// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** What a thread that polls again and again, and handles by itself what it waits for, leaves to the engine's thread. */
@Timeout(60)
class SocketEngineTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(2);
    /** By when that thread, which may lead now, has given way. */
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(50);

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
}
