// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What ids make of what their device does, with a device that a test drives. */
class DeviceReportsTest extends IdsOfOneDevice {
    private static void tell(Report report) {
        for (CmContext.Watcher watcher : FakeProvider.DEVICE.context().watchers) {
            report.reach(watcher);
        }
    }

    private interface Report {
        void reach(CmContext.Watcher watcher);
    }

    // ---------------------------------------------------------------- events of newer versions

    private void expectUnknown(CmId id) throws RdmaException {
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.UNKNOWN);
            assertThat(event.typeCode()).isEqualTo(99);
            assertThat(event.status()).isEqualTo(-110);
            assertThat(event.id()).isSameAs(id);
            assertThat(event.isFailure()).isFalse();
            assertThat(event.description()).startsWith("event 99: ");
            assertThat(event)
                    .hasToString("event 99, status -110 (Connection timed out (ETIMEDOUT))");
            assertThatIllegalStateException().isThrownBy(() -> event.failure("connect"))
                    .withMessage("connect: event 99 is no failure");
        }
        expectNothing();
    }

    /** It changes nothing: what belongs to the step comes afterwards. */
    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        CmId client = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnknownEvent(99, -110);
        expectUnknown(client);
        FakeProvider.DEVICE.context().handlers.getLast().onEstablished(null);
        expect(CmEventType.ESTABLISHED, client, 0);
        CmId asking = lookingUp();
        FakeProvider.DEVICE.context().lookupHandlers.getLast().onUnknownEvent(99, -110);
        expectUnknown(asking);
        CmId listener = bound(PortSpace.TCP, FakeDevice.FIRST);
        listener.listen(1);
        FakeProvider.DEVICE.context().listenHandlers.getLast().onUnknownEvent(99, -110);
        expectUnknown(listener);
    }

    @Test
    void eventsThatAreKnownHaveTheirNumbers() throws Exception {
        CmId client = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnreachable(Errno.ETIMEDOUT);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.UNREACHABLE);
            assertThat(event.typeCode()).isEqualTo(7);
            assertThat(event.id()).isSameAs(client);
        }
    }

    /** A synchronous id waits for the outcome of its step. */
    @Test
    void eventThatThisVersionDoesNotKnowIsNoOutcomeOfAStep() throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
            id.resolveAddress(PEER, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            FakeProvider.DEVICE.context().answer = (connection, handler) -> {
                handler.onUnknownEvent(99, 1);
                handler.onEstablished(null);
            };
            id.connect(new ConnectionParameters().queuePairNumber(5));
            assertThat(id.event()).isNotNull();
            assertThat(id.event().type()).isEqualTo(CmEventType.ESTABLISHED);
        }
    }

    // ---------------------------------------------------------------- the device goes

    @Test
    void removalReachesEveryIdOfTheDeviceOnce() throws Exception {
        CmId listener = bound(PortSpace.TCP, FakeDevice.FIRST);
        listener.listen(1);
        CmId client = connecting();
        tell(CmContext.Watcher::onDeviceGone);
        tell(CmContext.Watcher::onDeviceGone);
        List<CmId> told = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            try (CmEvent event = events.pollEvent(Duration.ZERO)) {
                assertThat(event).isNotNull();
                assertThat(event.type()).isEqualTo(CmEventType.DEVICE_REMOVAL);
                assertThat(event.description()).isEqualTo("the device is gone; close the id");
                told.add(event.id());
            }
        }
        assertThat(told).containsExactlyInAnyOrder(listener, client);
        expectNothing();
        assertRefused(client::disconnect, Errno.ENODEV);
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.ENODEV);
    }

    /** The ids at one address hear of their device; this one has several, and hears when none is left. */
    @Test
    void listenerAtAllAddressesHearsWhenNoDeviceIsLeft() throws Exception {
        FakeDevice other = new FakeDevice("fake1", DeviceKind.SOFTWARE, TransportType.INFINIBAND);
        FakeProvider.offer(FakeProvider.DEVICE, other);
        try {
            CmId listener = CmId.create(events, PortSpace.TCP);
            ids.add(listener);
            listener.bindAddress(new InetSocketAddress(0));
            listener.listen(1);
            tell(CmContext.Watcher::onDeviceGone);
            expectNothing();
            other.context().watchers.forEach(CmContext.Watcher::onDeviceGone);
            expect(CmEventType.DEVICE_REMOVAL, listener, 0);
            other.context().watchers.forEach(CmContext.Watcher::onDeviceGone);
            expectNothing();
            listener.close();
            assertThat(other.context().isClosed).isTrue();
        } finally {
            FakeProvider.offer(FakeProvider.DEVICE);
        }
    }

    @Test
    void whatTheDeviceReportsAfterItsEndChangesNothing() throws Exception {
        CmId client = lookingUp();
        FakeContext context = FakeProvider.DEVICE.context();
        tell(CmContext.Watcher::onDeviceGone);
        expect(CmEventType.DEVICE_REMOVAL, client, 0);
        context.lookupHandlers.getLast().onService(new DatagramParameters(
                AddressHandleAttributes.to(Gid.ZERO, 0), 1, 1,
                new byte[0]));
        expectNothing();
    }

    @Test
    void idsMadeAfterARemovalOpenTheDeviceAnew() throws Exception {
        CmId before = bound(PortSpace.TCP, FakeDevice.FIRST);
        FakeContext gone = FakeProvider.DEVICE.context();
        tell(CmContext.Watcher::onDeviceGone);
        expect(CmEventType.DEVICE_REMOVAL, before, 0);
        CmId after = bound(PortSpace.TCP, FakeDevice.SECOND);
        assertThat(after.context()).isNotSameAs(gone).isSameAs(FakeProvider.DEVICE.context());
        assertThat(gone.isClosed).isFalse();
        before.close();
        assertThat(gone.isClosed).isTrue();
    }

    private CmId synchronousListener() throws Exception {
        CmId listener = CmId.create(PortSpace.TCP);
        ids.add(listener);
        listener.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        listener.listen(1);
        return listener;
    }

    @Test
    void synchronousListenerThatWaitsIsToldOfTheRemoval() throws Exception {
        CmId listener = synchronousListener();
        tell(CmContext.Watcher::onDeviceGone);
        assertRefused(() -> listener.pollRequest(TIMEOUT), Errno.ENODEV);
    }

    // ---------------------------------------------------------------- addresses go

    /** The device takes the address back when it is there again; the others say nothing of requests either. */
    @Test
    void synchronousListenerWaitsOnWhenItsAddressGoes() throws Exception {
        CmId listener = synchronousListener();
        FakeContext context = FakeProvider.DEVICE.context();
        CmListener.Handler handler = context.listenHandlers.getLast();
        loseAddress(handler);
        assertThat(listener.pollRequest(Duration.ZERO)).isNull();
        loseAddress(handler);
        assertThat(listener.pollRequest(Duration.ofMillis(10))).isNull();
        for (Taking taking : List.<Taking>of(CmId::awaitRequest, id -> id.pollRequest(TIMEOUT),
                id -> id.pollRequest(Duration.ZERO))) {
            loseAddress(handler);
            handler.onRequest(context, context.connection(), listener.localAddress(), PEER,
                    new ConnectionParameters());
            try (CmId requested = taking.take(listener)) {
                assertThat(requested).isNotNull();
            }
        }
        assertThat(listener.event()).isNull();
    }

    private interface Taking {
        @Nullable
        CmId take(CmId listener) throws RdmaException;
    }

    private static void loseAddress(CmListener.Handler handler) {
        tell(watcher -> watcher.onAddressChanged(FakeDevice.FIRST));
        handler.onUnknownEvent(99, -110);
    }

    @Test
    void eventThatTheApplicationWritesEndsTheWaitForARequest() throws Exception {
        CmId listener = synchronousListener();
        listener.writeEvent(0, 7);
        assertRefused(listener::awaitRequest, Errno.EINVAL);
        assertThat(listener.event()).isNotNull();
        assertThat(listener.event().argument()).isEqualTo(7);
        listener.writeEvent(0, 8);
        assertRefused(() -> listener.pollRequest(TIMEOUT), Errno.EINVAL);
    }

    @Test
    void changedAddressIsToldToItsIdsOnly() throws Exception {
        CmId first = bound(PortSpace.TCP, FakeDevice.FIRST);
        CmId second = bound(PortSpace.UDP, FakeDevice.SECOND);
        tell(watcher -> watcher.onAddressChanged(FakeDevice.SECOND));
        expect(CmEventType.ADDR_CHANGE, second, 0);
        expectNothing();
        tell(watcher -> watcher.onAddressChanged(FakeDevice.FIRST));
        expect(CmEventType.ADDR_CHANGE, first, 0);
        // A hint only: the id goes on.
        first.listen(1);
    }

    @Test
    void routeFromAnAddressThatIsGoneIsAnError() throws Exception {
        CmId id = resolved(PortSpace.TCP);
        FakeProvider.DEVICE.context().addresses.remove(FakeDevice.FIRST);
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_ERROR, id, -Errno.ENETUNREACH.number());
        FakeProvider.DEVICE.context().addresses.add(FakeDevice.FIRST);
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED, id, 0);
    }

    @Test
    void routeOverAPortThatIsDownIsAnError() throws Exception {
        CmId id = resolved(PortSpace.TCP);
        FakeProvider.DEVICE.context().portState = PortState.DOWN;
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_ERROR, id, -Errno.ENETUNREACH.number());
    }

    @Test
    void groupJoinedFromAnAddressThatIsGoneIsAnError() throws Exception {
        CmId id = bound(PortSpace.UDP, FakeDevice.FIRST);
        FakeProvider.DEVICE.context().addresses.clear();
        id.joinMulticast(InetAddress.ofLiteral("239.1.2.3"), "mine");
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_ERROR);
            assertThat(event.status()).isEqualTo(-Errno.ENETUNREACH.number());
            assertThat(event.joinContext()).isEqualTo("mine");
            assertThat(event.datagram()).isNull();
        }
    }

    @Test
    void destinationOfTheOtherIpVersionIsAnAddressError() throws Exception {
        CmId id = bound(PortSpace.TCP, FakeDevice.FIRST);
        id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1), TIMEOUT);
        expect(CmEventType.ADDR_ERROR, id, -Errno.EADDRNOTAVAIL.number());
        // The id is as it was.
        id.resolveAddress(PEER, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED, id, 0);
    }

    // ---------------------------------------------------------------- several threads

    @Test
    void connectionThatStandsBeforeConnectingReturnsCanBeEnded() throws Exception {
        CmId client = routed(CmId.create(events, PortSpace.TCP));
        List<String> ended = new ArrayList<>();
        FakeContext context = FakeProvider.DEVICE.context();
        context.onDisconnect = () -> ended.add("disconnected");
        context.answer = (connection, handler) -> {
            handler.onReply(connection, new ConnectionParameters());
            try {
                client.establish();
                client.disconnect();
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        };
        client.connect(new ConnectionParameters().queuePairNumber(5));
        assertThat(ended).hasSize(1);
    }

    @Test
    void synchronousIdIsDisconnectedByOneThreadAtATime() throws Exception {
        CmId client = routed(CmId.create(PortSpace.TCP));
        FakeContext context = FakeProvider.DEVICE.context();
        CountDownLatch isEnding = new CountDownLatch(1);
        context.onDisconnect = isEnding::countDown;
        context.answer = (connection, handler) -> handler.onReply(connection,
                new ConnectionParameters());
        client.connect(new ConnectionParameters().queuePairNumber(5));
        client.establish();
        CompletableFuture<Void> first = inBackground(client::disconnect);
        assertThat(isEnding.await(20, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> second = inBackground(client::disconnect);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> second.get(20, TimeUnit.SECONDS))
                .withCauseInstanceOf(RdmaException.class)
                .withMessageContaining("another thread waits");
        context.handlers.getLast().onDisconnected();
        first.get(20, TimeUnit.SECONDS);
        client.disconnect();
    }

    private interface Step {
        void run() throws RdmaException;
    }

    private static CompletableFuture<Void> inBackground(Step step) {
        CompletableFuture<Void> outcome = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                step.run();
                outcome.complete(null);
            } catch (RdmaException | RuntimeException e) {
                outcome.completeExceptionally(e);
            }
        });
        return outcome;
    }

    // ---------------------------------------------------------------- steps that fail

    @Test
    void connectionsNeedAQueuePairOfWhomever() throws Exception {
        CmId client = routed(CmId.create(events, PortSpace.TCP));
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.EINVAL);
        assertThat(FakeProvider.DEVICE.context().connectCalls).isEmpty();
        client.connect(new ConnectionParameters().queuePairNumber(5));
    }

    @Test
    void addressThatCannotBeResolvedFromASourceCanBeTriedAgain() throws Exception {
        CmId id = CmId.create(events, PortSpace.TCP);
        ids.add(id);
        InetSocketAddress source = new InetSocketAddress(FakeDevice.FIRST, 5000);
        for (int attempt = 0; attempt < 2; attempt++) {
            id.resolveAddress(source,
                    new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1), TIMEOUT);
            expect(CmEventType.ADDR_ERROR, id, -Errno.EADDRNOTAVAIL.number());
            assertThat(id.localPort()).isZero();
        }
        id.resolveAddress(source, PEER, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED, id, 0);
        assertThat(id.localPort()).isEqualTo(5000);
    }

    @Test
    void deviceThatFailsByADefectIsNotKeptOpen() throws Exception {
        CmId other = bound(PortSpace.TCP, FakeDevice.FIRST);
        FakeProvider.DEVICE.context().isBroken = true;
        CmId id = CmId.create(events, PortSpace.TCP);
        ids.add(id);
        InetSocketAddress address = new InetSocketAddress(FakeDevice.FIRST, 5000);
        assertThatIllegalStateException().isThrownBy(() -> id.bindAddress(address));
        assertThatIllegalStateException()
                .isThrownBy(() -> id.resolveAddress(address, PEER, TIMEOUT));
        assertThatIllegalStateException().isThrownBy(() -> id.resolveAddress(PEER, TIMEOUT))
                .withMessage("broken");
        assertThatIllegalStateException().isThrownBy(() -> id.resolveAddress(PEER, TIMEOUT))
                .withMessage("broken");
        FakeProvider.DEVICE.context().isBroken = false;
        // Neither the port nor the device is held by what has failed.
        CmId after = CmId.create(events, PortSpace.TCP);
        ids.add(after);
        after.bindAddress(address);
        after.close();
        other.close();
        assertThat(FakeProvider.DEVICE.context().isClosed).isTrue();
    }

    // ---------------------------------------------------------------- what devices are asked

    @Test
    void callsTellWhatTheApplicationChose() throws Exception {
        CmId client = bound(PortSpace.TCP, FakeDevice.FIRST);
        client.typeOfService(0x20);
        client.ackTimeoutExponent(17);
        client.resolveAddress(PEER, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED, client, 0);
        client.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED, client, 0);
        client.connect(new ConnectionParameters().queuePairNumber(5));
        ConnectRequest call = FakeProvider.DEVICE.context().connectCalls.getLast();
        assertThat(call.options().typeOfService()).isEqualTo(0x20);
        assertThat(call.options().ackTimeoutExponent()).isEqualTo(17);
        assertThat(call.type()).isEqualTo(QueuePairType.RC);
        assertThat(call.destination()).isEqualTo(PEER);
        assertThat(call.queuePairNumber()).isEqualTo(5);

        CmId listener = CmId.create(events, PortSpace.UDP);
        ids.add(listener);
        listener.addressFamilyOnly(true);
        listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral("::"), 0));
        listener.listen(3);
        assertThat(FakeProvider.DEVICE.context().listenCalls.getLast())
                .satisfies(offer -> assertThat(offer.type()).isEqualTo(QueuePairType.UD))
                .satisfies(offer -> assertThat(offer.address()).isNull())
                .satisfies(offer -> assertThat(offer.backlog()).isEqualTo(3))
                .satisfies(offer -> assertThat(offer.family())
                        .isEqualTo(StandardProtocolFamily.INET6));
    }

    /** C: {@code rdma_listen(id, 0)}, as in most examples of rdma-core. */
    @Test
    void backlogOfZeroMeansAsManyAsThereMayBe() throws Exception {
        CmId listener = CmId.create(events, PortSpace.TCP);
        ids.add(listener);
        listener.listen(0);
        assertThat(FakeProvider.DEVICE.context().listenCalls.getLast().backlog()).isEqualTo(1024);
        assertThatIllegalArgumentException().isThrownBy(() -> listener.listen(-1))
                .withMessage("a backlog cannot be -1");
    }

    @Test
    void portOfTheDeviceIsKnownWithTheDevice() throws Exception {
        CmId id = CmId.create(events, PortSpace.TCP);
        ids.add(id);
        assertThat(id.devicePort()).isZero();
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        assertThat(id.devicePort()).isEqualTo(1);
    }
}
