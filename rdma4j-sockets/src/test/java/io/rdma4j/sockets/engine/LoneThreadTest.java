// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class LoneThreadTest {
    private final LoneThread lone = new LoneThread(TimeUnit.MILLISECONDS.toNanos(300));

    private boolean isCaller() {
        return lone.isCaller(System.nanoTime());
    }

    private void serveAnother() throws InterruptedException {
        Thread.ofPlatform().start(lone::onServed).join();
    }

    @Test
    void isTheOnlyOneThatIsServedForSomeTime() {
        assertThat(isCaller()).isFalse();
        lone.onServed();
        assertThat(isCaller()).isFalse();
        Wait.until("it is the only one", this::isCaller, lone::onServed);
    }

    @Test
    void isNotThereWhileTwoAreServed() throws Exception {
        lone.onServed();
        Wait.until("it is the only one", this::isCaller);
        serveAnother();
        assertThat(isCaller()).isFalse();
        lone.onServed();
        assertThat(isCaller()).isFalse();
    }

    @Test
    void mayBeAnother() throws Exception {
        serveAnother();
        Wait.until("there is one", () -> lone.isThere(System.nanoTime()));
        assertThat(isCaller()).isFalse();
    }

    @Test
    void startsAgain() {
        lone.onServed();
        Wait.until("it is the only one", this::isCaller);
        lone.startAgain();
        assertThat(isCaller()).isFalse();
    }
}
