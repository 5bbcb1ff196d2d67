package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.softnic.Race;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What waits for the application's next look does not wait for ever. */
class HeldBackTest {
    private final AtomicBoolean hasMessage = new AtomicBoolean();
    private final Messages network = new Messages(new MessagePort());
    /** Stands still: nobody wakes because it is time. */
    private final AtomicLong clock = new AtomicLong(1);
    private Engine engine;
    private EngineDriver driver;

    @BeforeEach
    void open() {
        engine = new Engine(network, new IbConnectionManager(CmSettings.defaults(1), () -> 1), () -> 1,
                ring -> {});
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
        Race.until("the background thread sleeps", network.isAwaited::get, Thread::onSpinWait);
        int before = network.transmissions.get();
        hasMessage.set(true);
        driver.poll();
        clock.addAndGet(EngineDriver.POLLING_NS);
        Race.until("it is sent", () -> network.transmissions.get() > before, Thread::onSpinWait);
    }

    /** Has messages for the application, and does not wake who waits for them: the poller has seen them before. */
    private static final class Messages extends FixedPorts {
        final AtomicInteger transmissions = new AtomicInteger();
        final AtomicBoolean isAwaited = new AtomicBoolean();
        private final Semaphore bell = new Semaphore(0);

        Messages(PacketPort port) {
            super(port);
        }

        @Override
        public boolean pollDue(long nowNs) {
            transmissions.incrementAndGet();
            return true;
        }

        @Override
        public void await(long timeoutNs) {
            isAwaited.set(true);
            bell.acquireUninterruptibly();
        }

        @Override
        public void wake() {
            bell.release();
        }
    }

    private final class MessagePort extends FixedPorts.Port {
        @Override
        public int receive(PacketHandler handler, int budget) {
            if (!hasMessage.getAndSet(false)) {
                return 0;
            }
            engine.onDelivered();
            return 1;
        }
    }
}
