// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An id that is closed while another thread takes a step of it: closing does not wait, the step says that the id is closed, and then
 * nothing is held any more.
 */
@Timeout(60)
class ClosingStepsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final int PORT = 7471;
    private static final InetSocketAddress HERE = new InetSocketAddress(FakeDevice.FIRST, PORT);
    private static final InetSocketAddress PEER = new InetSocketAddress(FakeDevice.SECOND, 7472);
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");

    private final FakeDevice device = FakeProvider.DEVICE;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CmEventChannel events = CmEventChannel.create();
    /** The step has begun to use the device. */
    private final CountDownLatch begun = new CountDownLatch(1);
    /** The id is closed: the device goes on. */
    private final CountDownLatch closed = new CountDownLatch(1);
    private final CountedPorts ports = new CountedPorts();

    /** Counts the ports that are reserved. */
    private static final class CountedPorts implements PortAuthority {
        final AtomicInteger held = new AtomicInteger();
        Runnable onReserve = () -> {};

        @Override
        public PortReservation reserve(PortSpace space, InetSocketAddress address,
                boolean isShared) {
            onReserve.run();
            held.incrementAndGet();
            return held::decrementAndGet;
        }

        @Override
        public boolean hasOneWildcardListener() {
            return false;
        }
    }

    @BeforeEach
    void reserve() {
        device.portAuthority = ports;
    }

    @AfterEach
    void nothingIsHeld() throws Exception {
        device.onOpen = () -> {};
        device.onListen = () -> {};
        device.onConnect = () -> {};
        device.onClose = () -> {};
        device.portAuthority = PortAuthority.PROCESS;
        threads.shutdown();
        events.close();
        assertThat(ports.held).hasValue(0);
        assertThat(device.opened).allMatch(context -> context.isClosed)
                .allMatch(context -> context.open.get() == 0);
        CmId next = CmId.create(PortSpace.TCP);
        next.bindAddress(HERE);
        next.listen(1);
        next.close();
    }

    private void hold() {
        begun.countDown();
        await(closed);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private interface Step {
        void take() throws RdmaException;
    }

    private CmId id(boolean isSynchronous, PortSpace space) throws RdmaException {
        return isSynchronous ? CmId.create(space) : CmId.create(events, space);
    }

    /** Takes a step that waits at the device, closes the id, and lets the step go on. */
    private void closeDuring(CmId id, Step step) throws Exception {
        Future<?> taken = threads.submit(() -> {
            step.take();
            return null;
        });
        await(begun);
        threads.submit(() -> {
            id.close();
            return null;
        }).get(20, TimeUnit.SECONDS);
        closed.countDown();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> taken.get(20, TimeUnit.SECONDS)).havingCause()
                .isExactlyInstanceOf(RdmaClosedException.class)
                .withMessage("use id: the id is closed (EBADF)");
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    @Test
    void binding() throws Exception {
        device.onOpen = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        closeDuring(id, () -> id.bindAddress(HERE));
    }

    @Test
    void bindingWhileThePortIsReserved() throws Exception {
        ports.onReserve = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        closeDuring(id, () -> id.bindAddress(HERE));
    }

    @Test
    void bindingToAllAddresses() throws Exception {
        ports.onReserve = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        closeDuring(id, () -> id.bindAddress(new InetSocketAddress(PORT)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resolvingAnAddress(boolean isSynchronous) throws Exception {
        device.onOpen = this::hold;
        CmId id = id(isSynchronous, PortSpace.TCP);
        closeDuring(id, () -> id.resolveAddress(PEER, TIMEOUT));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resolvingAnAddressFromAnother(boolean isSynchronous) throws Exception {
        device.onOpen = this::hold;
        CmId id = id(isSynchronous, PortSpace.TCP);
        closeDuring(id, () -> id.resolveAddress(HERE, PEER, TIMEOUT));
    }

    @ParameterizedTest
    @ValueSource(strings = {"TCP", "UDP"})
    void listening(PortSpace space) throws Exception {
        device.onListen = this::hold;
        CmId id = CmId.create(events, space);
        id.bindAddress(HERE);
        closeDuring(id, () -> id.listen(5));
    }

    @Test
    void listeningOnAllDevicesWhileOneIsOpened() throws Exception {
        device.onOpen = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(PORT));
        closeDuring(id, () -> id.listen(5));
    }

    /** Nothing is opened that would notice it. */
    @Test
    void listeningOnDevicesThatMayCome() throws Exception {
        FakeProvider.reportChanges(true);
        FakeProvider.offer();
        FakeProvider.onWatch = this::hold;
        try {
            CmId id = CmId.create(events, PortSpace.TCP);
            closeDuring(id, () -> id.listen(5));
            assertThat(FakeProvider.watching()).isZero();
        } finally {
            FakeProvider.onWatch = () -> {};
            FakeProvider.offer(device);
            FakeProvider.reportChanges(false);
        }
    }

    @Test
    void listeningOnAllDevicesWhileOneBegins() throws Exception {
        device.onListen = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        closeDuring(id, () -> id.listen(5));
    }

    /** The device hands over a request before it has been told that nobody listens. */
    @Test
    void requestThatReachesAListenerThatIsClosedIsRefused() throws Exception {
        device.onListen = this::hold;
        CmId id = CmId.create(events, PortSpace.TCP);
        id.bindAddress(HERE);
        Future<?> listening = threads.submit(() -> {
            id.listen(5);
            return null;
        });
        await(begun);
        id.close();
        FakeContext context = device.context();
        context.listenHandlers.getLast().onRequest(context, context.connection(), HERE, PEER,
                new ConnectionParameters());
        assertThat(context.open).hasValue(0);
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
        closed.countDown();
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(listening::get);
    }

    private CmId routed(boolean isSynchronous, PortSpace space) throws Exception {
        CmId id = id(isSynchronous, space);
        id.resolveAddress(HERE, PEER, TIMEOUT);
        id.resolveRoute(TIMEOUT);
        for (CmEvent event = events.pollEvent(Duration.ZERO); event != null; event = events
                .pollEvent(Duration.ZERO)) {
            event.close();
        }
        return id;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connecting(boolean isSynchronous) throws Exception {
        CmId id = routed(isSynchronous, PortSpace.TCP);
        device.onConnect = this::hold;
        closeDuring(id, () -> id.connect(new ConnectionParameters().queuePairNumber(5)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lookingUp(boolean isSynchronous) throws Exception {
        CmId id = routed(isSynchronous, PortSpace.UDP);
        device.onConnect = this::hold;
        closeDuring(id, () -> id.connect(new ConnectionParameters().queuePairNumber(5)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void joining(boolean isSynchronous) throws Exception {
        CmId id = id(isSynchronous, PortSpace.UDP);
        id.bindAddress(HERE);
        device.onConnect = this::hold;
        closeDuring(id, () -> id.joinMulticast(GROUP, null));
    }

    /** Its outcome has not come: nothing but the end of the id ends the wait. */
    @Test
    void waitingForAnOutcome() throws Exception {
        CmId id = routed(true, PortSpace.TCP);
        CompletableFuture<Void> connected = new CompletableFuture<>();
        device.context().answer = (connection, handler) -> connected.complete(null);
        device.onConnect = begun::countDown;
        closeDuring(id, () -> id.connect(new ConnectionParameters().queuePairNumber(5)));
        assertThat(connected).isCompleted();
    }

    /** Who hears of the outcome may close the id before the call returns that has begun it. */
    @Test
    void connectingThatWasRefusedBeforeTheCallReturnsDoesNotFail() throws Exception {
        CmId id = routed(false, PortSpace.TCP);
        device.context().answer = (connection, handler) -> {
            handler.onUnreachable(Errno.ETIMEDOUT);
            try {
                events.awaitEvent().close();
                id.close();
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        };
        id.connect(new ConnectionParameters().queuePairNumber(5));
    }

    @Test
    void movingAnIdThatIsClosedLeavesTheOtherChannelAlone() throws Exception {
        CmEventChannel other = CmEventChannel.create();
        CmId id = CmId.create(events, PortSpace.TCP);
        id.bindAddress(HERE);
        device.onClose = this::hold;
        Future<?> closing = threads.submit(() -> {
            id.close();
            return null;
        });
        await(begun);
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> id.migrate(other));
        closed.countDown();
        closing.get(20, TimeUnit.SECONDS);
        other.close();
    }

    // ---------------------------------------------------------------- the device of the last id

    private static RdmaException failure(Errno errno) {
        return new RdmaException(errno, "close device", "it does not want to");
    }

    @Test
    void deviceWhoseLastObjectIsClosedWhileItIsRefusedTheEndIsClosed() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        id.bindAddress(HERE);
        FakeContext context = device.context();
        context.closeFailures.add(failure(Errno.EBUSY));
        CompletableFuture<Future<?>> released = new CompletableFuture<>();
        device.onClose = () -> {
            if (!released.isDone()) {
                released.complete(threads.submit(context.released));
            }
        };
        id.close();
        released.get(20, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS);
        assertThat(context.isClosed).isTrue();
    }

    @Test
    void deviceThatFailsToCloseIsOpenedAnew() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        id.bindAddress(HERE);
        FakeContext broken = device.context();
        broken.closeFailures.add(failure(Errno.EIO));
        id.close();
        CmId next = CmId.create(PortSpace.TCP);
        next.bindAddress(HERE);
        assertThat(device.context()).isNotSameAs(broken);
        next.close();
        assertThat(device.context().isClosed).isTrue();
        device.opened.remove(broken);
    }

    @Test
    void deviceWithObjectsOfTheApplicationIsNotOpenedTwice() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        id.bindAddress(HERE);
        FakeContext used = device.context();
        used.closeFailures.add(failure(Errno.EBUSY));
        id.close();
        CmId next = CmId.create(PortSpace.TCP);
        next.bindAddress(HERE);
        assertThat(device.context()).isSameAs(used);
        next.close();
        assertThat(used.isClosed).isTrue();
    }
}
