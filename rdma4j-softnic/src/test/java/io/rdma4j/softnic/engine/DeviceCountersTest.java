// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.count.Counter;
import org.junit.jupiter.api.Test;

import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** What a device has counted is what its queue pairs have, also the closed ones, and what concerns none. */
class DeviceCountersTest {
    private static final int ROUNDS = 2_000;

    private final Engine engine = new Engine(new Random(1)::nextInt, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, () -> 0, null, () -> {});

    @Test
    void sumOfLivingAndClosed() {
        PostedQueuePair first = new PostedQueuePair(engine, driver);
        PostedQueuePair second = new PostedQueuePair(engine, driver);
        first.count(Counter.SENT_PKTS, 3);
        second.count(Counter.SENT_PKTS, 4);
        engine.counters().add(Counter.SENT_PKTS, 5);
        assertThat(engine.counters().value(Counter.SENT_PKTS)).isEqualTo(12);
        engine.detach(first);
        assertThat(engine.counters().value(Counter.SENT_PKTS)).isEqualTo(12);
        first.count(Counter.SENT_PKTS, 1);
        assertThat(engine.counters().byName(EnumSet.of(Counter.SENT_PKTS)))
                .containsOnlyKeys("sent_pkts").containsValue(13L);
    }

    /** A reader sees no value twice, and none that was there before no longer. */
    @Test
    void valueNeverFallsWhileQueuePairsClose() throws InterruptedException {
        AtomicBoolean isEnded = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            long before = 0;
            while (!isEnded.get()) {
                long now = engine.counters().value(Counter.SENT_PKTS);
                assertThat(now).isBetween(before, (long) ROUNDS);
                before = now;
            }
        });
        Throwable[] failure = {null};
        reader.setUncaughtExceptionHandler((thread, thrown) -> failure[0] = thrown);
        reader.start();
        for (int i = 0; i < ROUNDS; i++) {
            PostedQueuePair brief = new PostedQueuePair(engine, driver);
            brief.count(Counter.SENT_PKTS, 1);
            engine.detach(brief);
        }
        isEnded.set(true);
        reader.join();
        assertThat(failure[0]).isNull();
        assertThat(engine.counters().value(Counter.SENT_PKTS)).isEqualTo(ROUNDS);
    }
}
