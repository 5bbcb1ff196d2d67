// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thread that drives the engine while the JVM closes an arena under an access is not interrupted afterwards, however it
 * came to drive. The mark of the JVM is set as by the thread itself.
 */
class MarkedOwnerTest {
    private final Engine engine = new Engine(new Numbers()::next, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, System::nanoTime, null, () -> {});
    private final PostedQueuePair queuePair = new PostedQueuePair(engine, driver);
    private int marks;

    private static final class Numbers {
        private int last = 100;

        int next() {
            return ++last;
        }
    }

    MarkedOwnerTest() {
        queuePair.whenAsked(() -> {
            // As memory does that an application can close.
            engine.protectOwner();
            marks++;
            Thread.currentThread().interrupt();
        });
    }

    @AfterEach
    void wasMarkedAndIsNotInterrupted() {
        boolean isInterrupted = Thread.interrupted();
        assertThat(marks).isPositive();
        assertThat(isInterrupted).isFalse();
    }

    @Test
    void whoPosts() {
        queuePair.post(EngineQueuePair.SEND_DOORBELL);
    }

    @Test
    void whoPolls() {
        queuePair.touch();
        driver.poll();
    }

    @Test
    void whoChangesSomething() {
        driver.run(nowNs -> queuePair.touch());
    }

    @Test
    void whoWaits() {
        queuePair.touch();
        driver.serve(null, new AdaptiveSpin(driver::nowNs, new ProcessorContention(driver::nowNs)));
    }
}
