// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * One thread closes or moves an id while another takes an event of it. Either the thread gets no event, or the id stays as it
 * was until the event is acknowledged.
 */
@Timeout(120)
class ClosingEventsTest {
    private static final int ROUNDS = 5_000;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CmEventChannel events = CmEventChannel.create();

    @AfterEach
    void nothingIsLeft() throws Exception {
        FakeProvider.DEVICE.onClose = () -> {};
        threads.shutdown();
        events.close();
        assertThat(FakeProvider.DEVICE.opened).allMatch(context -> context.isClosed);
    }

    private CmId bound() throws Exception {
        CmId id = CmId.create(events, PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        return id;
    }

    private CmId listening() throws Exception {
        CmId id = bound();
        id.listen(5);
        return id;
    }

    private static void request(CmId listener) {
        FakeContext context = FakeProvider.DEVICE.context();
        context.listenHandlers.getLast().onRequest(context, context.connection(),
                listener.localAddress(), new InetSocketAddress(FakeDevice.SECOND, 40_000),
                new ConnectionParameters());
    }

    private static void assertBusy(RdmaException refusal) {
        assertThat(refusal.errno()).isEqualTo(Errno.EBUSY);
        assertThat(refusal).hasMessageContaining("not acknowledged");
    }

    @Test
    void idThatIsBeingClosedHandsOutNoEvent() throws Exception {
        CmId id = bound();
        id.writeEvent(0, 1);
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch looked = new CountDownLatch(1);
        FakeProvider.DEVICE.onClose = () -> {
            closing.countDown();
            await(looked);
        };
        Future<?> closed = threads.submit(() -> {
            id.close();
            return null;
        });
        await(closing);
        CmEvent event = events.pollEvent(Duration.ZERO);
        looked.countDown();
        closed.get(20, TimeUnit.SECONDS);
        assertThat(event).isNull();
    }

    /** A thread that stops a server by it may come late. */
    @Test
    void closedIdGetsNoEventOfTheApplication() throws Exception {
        CmId id = bound();
        id.close();
        id.writeEvent(0, 1);
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    @Test
    void closingThatIsRefusedLeavesTheEventsThatWait() throws Exception {
        CmId id = bound();
        id.writeEvent(0, 1);
        id.writeEvent(0, 2);
        CmEvent first = events.awaitEvent();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(id::close)
                .satisfies(ClosingEventsTest::assertBusy);
        try (CmEvent second = events.pollEvent(Duration.ZERO)) {
            assertThat(second).isNotNull();
            assertThat(second.argument()).isEqualTo(2);
        }
        id.writeEvent(0, 3);
        events.awaitEvent().close();
        id.listen(1);
        first.acknowledge();
        id.close();
    }

    @Test
    void movingThatIsRefusedLeavesTheIdWhereItWas() throws Exception {
        CmEventChannel other = CmEventChannel.create();
        CmId id = bound();
        id.writeEvent(0, 1);
        id.writeEvent(0, 2);
        CmEvent first = events.awaitEvent();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> id.migrate(other))
                .satisfies(ClosingEventsTest::assertBusy);
        assertThat(id.channel()).isSameAs(events);
        events.awaitEvent().close();
        assertThat(other.pollEvent(Duration.ZERO)).isNull();
        other.close();
        first.acknowledge();
        id.close();
    }

    /** What became of an event for which two threads race. */
    private record Taken(boolean isTaken, boolean isOtherDone) {
        boolean isViolation() {
            return isTaken && isOtherDone;
        }
    }

    /**
     * Takes an event while another thread does something with its id, and holds it until that thread is done.
     *
     * @param other must fail with EBUSY while the event is held
     */
    private Taken race(Callable<?> other, int round) throws Exception {
        CyclicBarrier begin = new CyclicBarrier(2);
        CountDownLatch done = new CountDownLatch(1);
        Future<Boolean> taking = threads.submit(() -> {
            begin.await();
            spin(round % 50);
            CmEvent event = events.pollEvent(Duration.ZERO);
            await(done);
            if (event != null) {
                event.acknowledge();
            }
            return event != null;
        });
        boolean isDone = false;
        begin.await();
        spin(round / 50 % 50);
        try {
            other.call();
            isDone = true;
        } catch (RdmaException e) {
            assertBusy(e);
        } finally {
            done.countDown();
        }
        return new Taken(taking.get(20, TimeUnit.SECONDS), isDone);
    }

    @Test
    void noThreadHoldsAnEventOfAnIdThatIsClosed() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            CmId id = bound();
            id.writeEvent(0, 1);
            Taken taken = race(() -> {
                id.close();
                return null;
            }, round);
            assertThat(taken.isViolation()).as("in round %d", round).isFalse();
            id.close();
            assertThat(events.pollEvent(Duration.ZERO)).isNull();
        }
    }

    @Test
    void noThreadHoldsAnEventOfTheOldChannelOnceAnIdHasMoved() throws Exception {
        CmEventChannel other = CmEventChannel.create();
        for (int round = 0; round < ROUNDS; round++) {
            CmId id = bound();
            id.writeEvent(0, 1);
            Taken taken = race(() -> {
                id.migrate(other);
                return null;
            }, round);
            assertThat(taken.isViolation()).as("in round %d", round).isFalse();
            try (CmEvent moved = other.pollEvent(Duration.ZERO)) {
                assertThat(moved != null).isNotEqualTo(taken.isTaken());
            }
            id.close();
        }
        other.close();
    }

    /** The request belongs to the thread that has taken it; otherwise it ends with its listener. */
    @Test
    void listenerClosesTheRequestsThatNoThreadHasTaken() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            CmId listener = listening();
            request(listener);
            CyclicBarrier begin = new CyclicBarrier(2);
            int delay = round % 50;
            Future<CmEvent> taking = threads.submit(() -> {
                begin.await();
                spin(delay);
                return events.pollEvent(Duration.ZERO);
            });
            begin.await();
            spin(round / 50 % 50);
            listener.close();
            CmEvent event = taking.get(20, TimeUnit.SECONDS);
            if (event != null) {
                event.id().reject(new byte[0]);
                event.acknowledge();
                event.id().close();
            }
        }
    }

    @Test
    void listenerMovesWithTheRequestsThatNoThreadHasTaken() throws Exception {
        CmEventChannel other = CmEventChannel.create();
        for (int round = 0; round < ROUNDS; round++) {
            CmId listener = listening();
            request(listener);
            request(listener);
            int delay = round % 50;
            CyclicBarrier begin = new CyclicBarrier(2);
            Future<CmEvent> taking = threads.submit(() -> {
                begin.await();
                spin(delay);
                return events.pollEvent(Duration.ZERO);
            });
            begin.await();
            spin(round / 50 % 50);
            listener.migrate(other);
            CmEvent early = taking.get(20, TimeUnit.SECONDS);
            int left = early == null ? 2 : 1;
            for (int i = 0; i < left; i++) {
                CmEvent event = other.awaitEvent();
                assertThat(event.id().channel()).isSameAs(other);
                event.acknowledge();
                event.id().close();
            }
            if (early != null) {
                assertThat(early.id().channel()).isSameAs(events);
                early.acknowledge();
                early.id().close();
            }
            listener.close();
        }
        other.close();
    }

    private static void spin(int turns) {
        for (int i = 0; i < 20 * turns; i++) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
