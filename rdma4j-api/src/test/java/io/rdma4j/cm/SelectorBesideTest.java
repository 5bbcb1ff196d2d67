// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.event.EventQueue;
import io.rdma4j.event.IdleDriver;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A thread that waits for a set of channels and for a selector at once. */
@Timeout(60)
class SelectorBesideTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(50);

    private final WaitSet set = WaitSet.create();
    private final CmEventChannel events = CmEventChannel.create(set);
    private final Selector selector = Selector.open();
    private final Pipe pipe = Pipe.open();
    private CmId id;

    SelectorBesideTest() throws Exception {}

    @BeforeEach
    void registerThePipe() throws Exception {
        id = CmId.create(events, PortSpace.TCP);
        pipe.source().configureBlocking(false);
        pipe.source().register(selector, SelectionKey.OP_READ);
        assertThat(selector.selectNow()).isZero();
    }

    @AfterEach
    void close() throws Exception {
        pipe.sink().close();
        pipe.source().close();
        selector.close();
        id.close();
        events.close();
        set.close();
    }

    /** What another thread does to one that waits. */
    private interface Act {
        void run(Thread waiting) throws Exception;
    }

    /** {@return what a wait returns or throws that something is done to} */
    private @Nullable Object endBy(Thread.Builder threads, Act act) throws Exception {
        CompletableFuture<@Nullable Object> seen = new CompletableFuture<>();
        Thread thread = threads.start(() -> {
            try {
                seen.complete(set.poll(TIMEOUT, selector));
            } catch (RdmaException | RuntimeException e) {
                seen.complete(e);
            }
        });
        while (!isInSelector(thread) && !seen.isDone()) {
            Thread.onSpinWait();
        }
        act.run(thread);
        return seen.get(50, TimeUnit.SECONDS);
    }

    private static boolean isInSelector(Thread thread) {
        for (StackTraceElement each : thread.getStackTrace()) {
            if (each.getClassName().startsWith("sun.nio.ch.")) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Object endBy(Act act) throws Exception {
        return endBy(Thread.ofPlatform().daemon(), act);
    }

    @Test
    void eventEndsTheWait() throws Exception {
        assertThat(endBy(waiting -> id.writeEvent(0, 0))).isSameAs(events);
        takeEvent();
    }

    private void takeEvent() throws Exception {
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
        }
    }

    @Test
    void eventEndsTheWaitOfAVirtualThread() throws Exception {
        assertThat(endBy(Thread.ofVirtual(), waiting -> id.writeEvent(0, 0))).isSameAs(events);
        takeEvent();
    }

    @Test
    void eventThatIsThereAlreadyIsReturned() throws Exception {
        id.writeEvent(0, 0);
        assertThat(set.poll(TIMEOUT, selector)).isSameAs(events);
        assertThat(set.poll(Duration.ZERO, selector)).isSameAs(events);
        takeEvent();
    }

    /** What has been found is left to the next selection, of either kind. */
    @Test
    void readyKeyEndsTheWaitAndIsNotSelectedByIt() throws Exception {
        assertThat(endBy(waiting -> pipe.sink().write(ByteBuffer.allocate(1)))).isNull();
        assertThat(selector.selectedKeys()).isEmpty();
        List<SelectionKey> found = new ArrayList<>();
        assertThat(selector.selectNow(found::add)).isOne();
        assertThat(selector.selectNow()).isOne();
        assertThat(selector.selectedKeys()).containsExactlyElementsOf(found);
    }

    @Test
    void wakeUpOfTheSelectorEndsTheWait() throws Exception {
        assertThat(endBy(waiting -> selector.wakeup())).isNull();
        selector.wakeup();
        assertThat(set.poll(TIMEOUT, selector)).isNull();
    }

    @Test
    void timeEndsTheWait() throws Exception {
        long startNs = System.nanoTime();
        do {
            assertThat(set.poll(Duration.ofMillis(30), selector)).isNull();
        } while (System.nanoTime() - startNs < 30_000_000);
        // Without a wait it does not look at the selector.
        selector.wakeup();
        assertThat(set.poll(Duration.ZERO, selector)).isNull();
        assertThat(set.poll(TIMEOUT, selector)).isNull();
    }

    @Test
    void closedSetAndClosedSelectorEndTheWait() throws Exception {
        assertThat(endBy(waiting -> set.close())).isInstanceOfSatisfying(RdmaException.class,
                e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
        selector.close();
        assertThatThrownBy(() -> set.poll(TIMEOUT, selector))
                .isInstanceOf(ClosedSelectorException.class);
    }

    @Test
    void selectorThatIsClosedMeanwhileEndsTheWait() throws Exception {
        assertThat(endBy(waiting -> selector.close())).isNull();
        assertThatThrownBy(() -> set.poll(TIMEOUT, selector))
                .isInstanceOf(ClosedSelectorException.class);
    }

    @Test
    void interruptionEndsTheWait() throws Exception {
        assertThat(endBy(Thread::interrupt)).isInstanceOfSatisfying(RdmaException.class,
                e -> assertThat(e.errno()).isEqualTo(Errno.EINTR));
    }

    /** Notes how it is driven. */
    private static final class Device extends IdleDriver {
        private final boolean canAwait;
        private final List<String> calls = new ArrayList<>();

        Device(boolean canAwait) {
            this.canAwait = canAwait;
        }

        @Override
        public boolean tryAcquire(Waiter waiter) {
            calls.add("acquired");
            return true;
        }

        @Override
        public boolean canAwait(Selector selector) {
            return canAwait;
        }

        @Override
        public void drive(long timeoutNs, Selector selector) {
            calls.add("driven " + Thread.holdsLock(selector));
        }

        @Override
        public void release() {
            calls.add("released");
        }

        @Override
        public void waitElsewhere() {
            calls.add("left");
        }
    }

    @Test
    void deviceThatAwaitsSelectorsIsDriven() throws Exception {
        Device device = new Device(true);
        EventQueue.of(events).addDriver(device);
        assertThat(set.poll(TIMEOUT, selector)).isNull();
        assertThat(device.calls).containsExactly("acquired", "driven true", "released");
    }

    @Test
    void deviceThatAwaitsNoneIsLeftToItself() throws Exception {
        Device device = new Device(false);
        EventQueue.of(events).addDriver(device);
        selector.wakeup();
        assertThat(set.poll(TIMEOUT, selector)).isNull();
        assertThat(device.calls).containsExactly("left");
    }
}
