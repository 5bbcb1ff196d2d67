// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.event.WaitFailures;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.QuietCompletions;
import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Threads that wait for events, the background thread, and the one place to sleep in. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class EngineWaitersTest {
    private static final long DELAY_NS = 1_000_000;

    private final DatagramNetwork network;
    private final AtomicLong skippedNs = new AtomicLong();
    /** Where the clock stands still, 0 while it runs. */
    private volatile long stoppedNs;
    private final SleepingLink link;
    private final Engine engine;
    private final EngineDriver driver;
    private final EngineWaiters progress;
    private final EventQueue<Thread, RdmaException> events = new EventQueue<>(
            new WaitFailures<>("await event", RdmaException::ofSystem), true);

    EngineWaitersTest(boolean isPortable) throws Exception {
        NetworkInterface loopback = NetworkInterface
                .getByInetAddress(InetAddress.getLoopbackAddress());
        network = isPortable || LinuxNetwork.obstacle() != null
                ? new PortableNetwork(loopback)
                : new LinuxNetwork(loopback, LinuxNetwork.SharedMemoryUse.NEVER);
        link = new SleepingLink(network);
        engine = new Engine(() -> 1, link);
        driver = new EngineDriver(engine, this::nowNs, "background", () -> {});
        progress = (EngineWaiters) driver.progress();
        events.addDriver(progress);
    }

    private long nowNs() {
        long stopped = stoppedNs;
        return (stopped == 0 ? System.nanoTime() : stopped) + skippedNs.get();
    }

    @AfterEach
    void close() {
        events.close();
        driver.close();
        network.close();
    }

    /** A thread that waits for an event, which is the thread that published it. */
    private static final class Waiter {
        final CompletableFuture<Thread> event = new CompletableFuture<>();
        final Thread thread;

        Waiter(EventQueue<Thread, RdmaException> events, Thread.Builder threads) {
            thread = threads.start(() -> {
                try {
                    event.complete(events.take());
                } catch (RdmaException e) {
                    event.completeExceptionally(e);
                }
            });
        }

        Thread publisher() throws Exception {
            return event.get(60, TimeUnit.SECONDS);
        }

        /** Waits until it sleeps where it is seen by its state, which is not in the network. */
        void untilItSleepsOutside() throws Exception {
            Wait.until("the thread sleeps", () -> thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING);
        }
    }

    /** A guest who is never done, and counts what it is offered. */
    private static class Visitor implements ProgressDriver.Waiter {
        final AtomicInteger offers = new AtomicInteger();
        private final boolean isUrgent;

        Visitor(boolean isUrgent) {
            this.isUrgent = isUrgent;
        }

        @Override
        public boolean isDone() {
            return false;
        }

        @Override
        public boolean isUrgent() {
            return isUrgent;
        }

        @Override
        public boolean onDriverFree() {
            offers.incrementAndGet();
            return true;
        }
    }

    /** It would take the processor from that poller, and from all that want it. */
    @Test
    void backgroundThreadRestsWhileAPollerSleepsForAMoment() throws Exception {
        // Before the background thread, which would sleep there.
        assertThat(progress.tryTakePlace()).isTrue();
        driver.start();
        Wait.until("the background thread has run the engine", () -> link.rounds() > 0);
        int before = link.rounds();
        long startNs = System.nanoTime();
        Thread.sleep(50);
        int rounds = link.rounds() - before;
        // A busy machine may let this thread sleep for longer.
        long elapsedMs = (System.nanoTime() - startNs) / 1_000_000;
        progress.leavePlace();
        assertThat(rounds).isLessThan((int) (2 * elapsedMs));
    }

    private static Waiter waiter(EventQueue<Thread, RdmaException> events) {
        return new Waiter(events, Thread.ofPlatform().daemon());
    }

    private void untilIn() throws Exception {
        Wait.until("a guest is in", progress::isOccupied);
    }

    /** Lets the thread that runs the engine later publish an event. */
    private void publishSoon(EventQueue<Thread, RdmaException> into) {
        driver.run(nowNs -> {
            CompletionRing ring = new CompletionRing(2, new QuietCompletions() {
                @Override
                public void onNotify() {
                    into.publish(Thread.currentThread());
                }

                @Override
                public void onModerated(CompletionRing moderated) {
                    engine.onModerated(moderated);
                }
            }, engine::timeNs, null, false);
            ring.moderate(2, DELAY_NS);
            ring.arm(false);
            CompletionSlot completion = ring.free();
            assertThat(completion).isNotNull();
            ring.add(completion, false);
        });
    }

    @Test
    void whoeverWaitsRunsTheEngineItself() throws Exception {
        Waiter waiter = waiter(events);
        untilIn();
        publishSoon(events);
        assertThat(waiter.publisher()).isEqualTo(waiter.thread);
        Wait.until("the guest leaves", () -> !progress.isOccupied());
    }

    @Test
    void anEventByAnotherThreadEndsTheStay() throws Exception {
        Waiter waiter = waiter(events);
        untilIn();
        events.publish(Thread.currentThread());
        assertThat(waiter.publisher()).isEqualTo(Thread.currentThread());
    }

    @Test
    void interruptionEndsTheStay() throws Exception {
        CompletableFuture<Boolean> isStillInterrupted = new CompletableFuture<>();
        CompletableFuture<String> refusal = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                events.take();
            } catch (RdmaException e) {
                refusal.complete(e.getMessage());
                isStillInterrupted.complete(Thread.currentThread().isInterrupted());
            }
        });
        untilIn();
        thread.interrupt();
        assertThat(refusal.get(60, TimeUnit.SECONDS)).contains("EINTR");
        assertThat(isStillInterrupted.get(60, TimeUnit.SECONDS)).isTrue();
        assertThat(progress.isOccupied()).isFalse();
    }

    @Test
    void timeEndsTheStay() throws Exception {
        assertThat(events.poll(Duration.ofMillis(2))).isNull();
        assertThat(progress.isOccupied()).isFalse();
        assertThat(progress.lastDrive()).isPositive();
    }

    @Test
    void whoeverOnlyLooksDoesNotEnter() throws Exception {
        assertThat(events.poll(Duration.ZERO)).isNull();
        assertThat(progress.lastDrive()).isZero();
    }

    @Test
    void closingTheChannelEndsTheStay() throws Exception {
        Waiter waiter = waiter(events);
        untilIn();
        events.close();
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::publisher)
                .withMessageContaining("EBADF");
    }

    @Test
    void closingTheDeviceSendsTheGuestAwayWhoGoesOnWaiting() throws Exception {
        Waiter waiter = waiter(events);
        untilIn();
        driver.close();
        assertThat(progress.isOccupied()).isFalse();
        waiter.untilItSleepsOutside();
        events.publish(Thread.currentThread());
        assertThat(waiter.publisher()).isEqualTo(Thread.currentThread());
    }

    @Test
    void theNextInTheLineEntersWhenTheFirstLeaves() throws Exception {
        EventQueue<Thread, RdmaException> others = new EventQueue<>(
                new WaitFailures<>("await event", RdmaException::ofSystem), true);
        others.addDriver(progress);
        Waiter first = waiter(events);
        untilIn();
        Waiter second = waiter(others);
        second.untilItSleepsOutside();
        events.publish(Thread.currentThread());
        first.publisher();
        Wait.until("the second enters", () -> progress.lastDrive() == 2);
        publishSoon(others);
        assertThat(second.publisher()).isEqualTo(second.thread);
    }

    @Test
    void severalWaitersOfOneQueueGetAnEventEach() throws Exception {
        Waiter first = waiter(events);
        untilIn();
        Waiter second = waiter(events);
        second.untilItSleepsOutside();
        events.publish(Thread.currentThread());
        events.publish(Thread.currentThread());
        assertThat(first.publisher()).isEqualTo(Thread.currentThread());
        assertThat(second.publisher()).isEqualTo(Thread.currentThread());
    }

    // ---------------------------------------------------------------- who leaves work behind

    /** Runs the engine once, and leaves when there is more to do. {@return whether the background thread leaves that to it} */
    private boolean isWorkLeftToWhoeverLeaves() {
        int before = link.rounds();
        assertThat(progress.tryAcquire(new Visitor(true) {
            @Override
            public boolean isDone() {
                return link.rounds() > before;
            }
        })).isTrue();
        progress.drive(Long.MAX_VALUE);
        progress.release();
        return progress.lastDrivenNs() == nowNs();
    }

    @Test
    void whoeverComesBackSoonFindsTheWorkThatItHasLeft() {
        stoppedNs = System.nanoTime();
        link.pretendMore();
        for (int i = 0; i < 3; i++) {
            assertThat(isWorkLeftToWhoeverLeaves()).isTrue();
            skippedNs.addAndGet(WaiterReturns.SOON_NS - 1);
        }
        skippedNs.addAndGet(1);
        assertThat(isWorkLeftToWhoeverLeaves()).as("after it has come late").isFalse();
    }

    // ---------------------------------------------------------------- virtual threads

    private Waiter virtual(EventQueue<Thread, RdmaException> from) {
        return new Waiter(from, Thread.ofVirtual());
    }

    /** It would take its carrier along to sleep. */
    @Test
    void aVirtualThreadDrivesBrieflyAndIsServedByTheBackgroundThread() throws Exception {
        Waiter waiter = virtual(events);
        waiter.untilItSleepsOutside();
        assertThat(progress.lastDrive()).isEqualTo(1);
        assertThat(progress.isOccupied()).isFalse();
        driver.start();
        publishSoon(events);
        assertThat(waiter.publisher().getName()).isEqualTo("background");
        assertThat(progress.lastDrive()).isEqualTo(1);
    }

    @Test
    void whatComesWhileAVirtualThreadDrivesNeedsNoOtherThread() throws Exception {
        publishSoon(events);
        // It is due when somebody runs the engine, which nobody does until then.
        skippedNs.addAndGet(TimeUnit.HOURS.toNanos(1));
        Waiter waiter = virtual(events);
        assertThat(waiter.publisher()).isEqualTo(waiter.thread);
    }

    @Test
    void virtualThreadsComeAndGo() throws Exception {
        driver.start();
        for (int i = 0; i < 50; i++) {
            Waiter waiter = virtual(events);
            if (i % 2 == 0) {
                waiter.untilItSleepsOutside();
            }
            publishSoon(events);
            assertThat(waiter.publisher().getName()).isIn("background", waiter.thread.getName());
        }
    }

    /** Between rounds it gives its carrier to others, which may compute for long. */
    @Test
    void aVirtualThreadThatWaitsForACarrierHoldsNobodyUp() throws Exception {
        CountDownLatch carrier = new CountDownLatch(1);
        Thread still = Thread.ofVirtual().start(() -> {
            if (progress.tryAcquire(new Visitor(true))) {
                try {
                    carrier.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    progress.release();
                }
            }
        });
        untilIn();
        driver.start();
        EventQueue<Thread, RdmaException> ofOthers = new EventQueue<>(
                new WaitFailures<>("await event", RdmaException::ofSystem), true);
        for (int i = 0; i < 3; i++) {
            publishSoon(ofOthers);
            assertThat(waiter(ofOthers).publisher().getName()).isEqualTo("background");
        }
        assertThat(progress.isOccupied()).isTrue();
        carrier.countDown();
        still.join();
    }

    @Test
    void whoeverWaitsForRareEventsMakesRoomForAVirtualThread() throws Exception {
        EventQueue<Thread, RdmaException> rare = rareEvents();
        Waiter patient = waiter(rare);
        untilIn();
        Waiter urgent = virtual(events);
        // Not the number of its drive: if it comes late, the patient one has taken the place again meanwhile.
        Wait.until("the virtual one enters", progress::mayStandStill);
        patient.untilItSleepsOutside();
        driver.start();
        publishSoon(events);
        urgent.publisher();
        publishSoon(rare);
        patient.publisher();
    }

    @Test
    void manyVirtualThreadsTakeOneEventEach() throws Exception {
        driver.start();
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiters.add(virtual(events));
        }
        for (Waiter each : waiters) {
            each.untilItSleepsOutside();
        }
        for (int i = 0; i < waiters.size(); i++) {
            publishSoon(events);
        }
        for (Waiter each : waiters) {
            each.publisher();
        }
        assertThat(events.isEmpty()).isTrue();
    }

    @Test
    void theBackgroundThreadGivesWayAndComesBack() throws Exception {
        driver.start();
        Waiter waiter = waiter(events);
        untilIn();
        publishSoon(events);
        assertThat(waiter.publisher()).isEqualTo(waiter.thread);
        CompletableFuture<Thread> served = new CompletableFuture<>();
        EventQueue<Thread, RdmaException> unattended = new EventQueue<>(
                new WaitFailures<>("await event", RdmaException::ofSystem), true);
        publishSoon(unattended);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                served.complete(unattended.take());
            } catch (RdmaException e) {
                served.completeExceptionally(e);
            }
        });
        assertThat(served.get(60, TimeUnit.SECONDS).getName()).isEqualTo("background");
    }

    @Test
    void guestsStayAwayWhileAnotherThreadPolls() throws Exception {
        Visitor guest = new Visitor(true);
        Thread poller = Thread.ofPlatform().start(() -> {
            driver.poll();
            // No time passes from here on that the driver could see, whatever the machine does.
            skippedNs.addAndGet(-TimeUnit.HOURS.toNanos(1));
        });
        poller.join();
        assertThat(progress.tryAcquire(guest)).isFalse();
        skippedNs.addAndGet(TimeUnit.HOURS.toNanos(2));
        assertThat(progress.tryAcquire(guest)).isTrue();
        progress.release();
    }

    @Test
    void whoeverHasPolledItselfMayEnter() throws Exception {
        driver.poll();
        assertThat(events.poll(Duration.ofMillis(2))).isNull();
        assertThat(progress.lastDrive()).isEqualTo(1);
    }

    // ---------------------------------------------------------------- who waits in a selector

    /** {@return the thread that has published, and so woken this one in a selector} */
    private Thread selected(EventQueue<Thread, RdmaException> from) throws Exception {
        try (Selector selector = Selector.open()) {
            from.selectableChannel().register(selector, SelectionKey.OP_READ);
            while (true) {
                Thread publisher = from.poll(Duration.ZERO);
                if (publisher != null) {
                    return publisher;
                }
                selector.select(TimeUnit.SECONDS.toMillis(60));
            }
        }
    }

    @Test
    void theBackgroundThreadServesWhoHasPolledAndWaitsInASelector() throws Exception {
        driver.start();
        events.selectableChannel();
        driver.poll();
        // No time passes that the driver could see: without further ado it would leave this to pollers.
        skippedNs.addAndGet(-TimeUnit.HOURS.toNanos(1));
        publishSoon(events);
        assertThat(selected(events).getName()).isEqualTo("background");
    }

    @Test
    void theBackgroundThreadServesWhoHasWaitedHereAndWaitsInASelector() throws Exception {
        events.selectableChannel();
        driver.poll();
        assertThat(events.poll(Duration.ofMillis(1))).isNull();
        assertThat(progress.lastDrive()).isPositive();
        // No time passes that the driver could see: without further ado it would expect this thread back.
        skippedNs.addAndGet(-TimeUnit.HOURS.toNanos(1));
        driver.start();
        publishSoon(events);
        assertThat(selected(events).getName()).isEqualTo("background");
    }

    @Test
    void whoeverTakesTheLastEventMayGoBackToItsSelector() throws Exception {
        driver.start();
        publishSoon(events);
        assertThat(selected(events).getName()).isEqualTo("background");
        driver.poll();
        events.publish(Thread.currentThread());
        skippedNs.addAndGet(-TimeUnit.HOURS.toNanos(1));
        assertThat(events.take()).isEqualTo(Thread.currentThread());
        publishSoon(events);
        Wait.until("the event", () -> !events.isEmpty());
        assertThat(events.take().getName()).isEqualTo("background");
    }

    // ---------------------------------------------------------------- who waits for what is rare

    private EventQueue<Thread, RdmaException> rareEvents() {
        EventQueue<Thread, RdmaException> rare = new EventQueue<>(
                new WaitFailures<>("await event", RdmaException::ofSystem), false);
        rare.addDriver(progress);
        return rare;
    }

    @Test
    void whoeverWaitsForRareEventsRunsTheEngineToo() throws Exception {
        EventQueue<Thread, RdmaException> rare = rareEvents();
        Waiter waiter = waiter(rare);
        untilIn();
        publishSoon(rare);
        assertThat(waiter.publisher()).isEqualTo(waiter.thread);
    }

    @Test
    void whoeverWaitsForRareEventsMakesRoom() throws Exception {
        EventQueue<Thread, RdmaException> rare = rareEvents();
        Waiter patient = waiter(rare);
        untilIn();
        Waiter urgent = waiter(events);
        Wait.until("the urgent one enters", () -> progress.lastDrive() >= 2);
        patient.untilItSleepsOutside();
        publishSoon(rare);
        assertThat(patient.publisher()).isEqualTo(urgent.thread);
        publishSoon(events);
        assertThat(urgent.publisher()).isEqualTo(urgent.thread);
    }

    @Test
    void whoeverWaitsForRareEventsStaysOutWhileAnUrgentGuestComesAndGoes() throws Exception {
        Visitor patient = new Visitor(false);
        Visitor urgent = new Visitor(true);
        // No time passes that the driver could see, whatever the machine does.
        stoppedNs = System.nanoTime();
        assertThat(progress.tryAcquire(urgent)).isTrue();
        skippedNs.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertThat(progress.tryAcquire(patient)).isFalse();
        progress.release();
        skippedNs.addAndGet(-TimeUnit.MINUTES.toNanos(1));
        assertThat(patient.offers).hasValue(0);
        assertThat(progress.tryAcquire(patient)).isFalse();
        skippedNs.addAndGet(TimeUnit.HOURS.toNanos(1));
        assertThat(progress.tryAcquire(patient)).isTrue();
        progress.release();
    }

    @Test
    void theBackgroundThreadLetsInWhoWaitsForRareEvents() throws Exception {
        Visitor patient = new Visitor(false);
        assertThat(progress.tryAcquire(new Visitor(true))).isTrue();
        assertThat(progress.tryAcquire(patient)).isFalse();
        progress.release();
        driver.start();
        Wait.until("it is offered", () -> patient.offers.get() > 0);
    }

    @Test
    void urgentGuestsComeFirst() {
        Visitor patient = new Visitor(false);
        Visitor urgent = new Visitor(true);
        assertThat(progress.tryAcquire(new Visitor(true))).isTrue();
        assertThat(progress.tryAcquire(patient)).isFalse();
        assertThat(progress.tryAcquire(urgent)).isFalse();
        progress.release();
        assertThat(urgent.offers).hasValue(1);
        assertThat(patient.offers).hasValue(0);
    }
}
