// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What waits for the application's next look does not wait for ever. */
class HeldBackTest {
    private final AtomicBoolean hasMessage = new AtomicBoolean();
    private final Messages network = new Messages();
    /** Does not advance: no wait ends because of time. */
    private final AtomicLong clock = new AtomicLong(1);
    private Engine engine;
    private EngineDriver driver;

    @BeforeEach
    void open() {
        engine = new Engine(() -> 1, network);
        driver = new EngineDriver(engine, clock::get, "background", () -> {});
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void thePollerItselfSendsAtItsNextLook() {
        hasMessage.set(true);
        driver.poll();
        assertThat(network.transmissions).hasValue(0);
        driver.poll();
        assertThat(network.transmissions).hasValue(1);
    }

    @Test
    void nothingWaitsIfNothingWasDelivered() {
        driver.poll();
        assertThat(network.transmissions).hasValue(1);
    }

    @Test
    void whoeverChangesSomethingSendsItFirst() {
        hasMessage.set(true);
        driver.poll();
        driver.run(nowNs -> assertThat(network.transmissions).hasValue(1));
    }

    @Test
    void theBackgroundThreadSendsIfThePollerDoesNotComeBack() throws Exception {
        driver.start();
        Wait.until("the background thread sleeps", network.isAwaited::get);
        int before = network.transmissions.get();
        hasMessage.set(true);
        driver.poll();
        clock.addAndGet(PollPace.POLLING_NS);
        Wait.until("it is sent", () -> network.transmissions.get() > before);
    }

    /** The poller waits in a selector now, and nothing else would tell who is about to sleep. */
    @Test
    void nobodySleepsOnceThePollerHasLeftItToOthers() {
        hasMessage.set(true);
        driver.poll();
        driver.stopAttending();
        AdaptiveSpin spin = new AdaptiveSpin(clock::get, new ProcessorContention(clock::get));
        clock.addAndGet(PollPace.POLLING_NS);
        driver.sleep(Long.MAX_VALUE, spin, null);
        assertThat(network.isAwaited).isFalse();
        driver.serve(null, spin);
        assertThat(network.transmissions).hasValue(1);
        network.wake();
        driver.sleep(Long.MAX_VALUE, spin, null);
        assertThat(network.isAwaited).isTrue();
    }

    /** Has messages for the application, and does not wake who waits for them: the poller has seen them before. */
    private final class Messages extends PatientLink {
        final AtomicInteger transmissions = new AtomicInteger();
        private boolean hasReceived;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            hasReceived = hasMessage.getAndSet(false);
            if (hasReceived) {
                engine.onDelivered();
            }
            return false;
        }

        @Override
        public boolean hasReceived() {
            return hasReceived;
        }

        @Override
        public boolean beginTransmit(long nowNs) {
            transmissions.incrementAndGet();
            return true;
        }
    }
}
