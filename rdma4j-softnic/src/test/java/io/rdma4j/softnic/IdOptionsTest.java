// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.AddressInfo.Hints;
import io.rdma4j.cm.CmDevices;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Options of ids, their channels, and what else librdmacm offers around the steps. */
class IdOptionsTest extends CmStage {
    /** {@return the server's id of an established connection of a client with a queue pair} */
    private CmId accepted(CmId client) throws RdmaException {
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair(reliable());
        server.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        return server;
    }

    // ---------------------------------------------------------------- options

    @Test
    void typeOfServiceReachesBothQueuePairs() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        client.typeOfService(0x60);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        CmId server = accepted(client);
        assertThat(client.queuePair().query().addressVector().trafficClass()).isEqualTo(0x60);
        assertThat(server.queuePair().query().addressVector().trafficClass()).isEqualTo(0x60);
        assertThatIllegalArgumentException().isThrownBy(() -> client.typeOfService(256))
                .withMessageContaining("255");
    }

    @Test
    void acknowledgeTimeoutIsThatOfTheQueuePair() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        client.ackTimeoutExponent(21);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        CmId server = accepted(client);
        assertThat(client.queuePair().query().ackTimeoutExponent()).isEqualTo(21);
        assertThat(server.queuePair().query().ackTimeoutExponent()).isNotEqualTo(21);
        assertThatIllegalArgumentException().isThrownBy(() -> client.ackTimeoutExponent(32))
                .withMessageContaining("31");
    }

    @Test
    void pathMtuThatTheActiveSideChoosesIsThatOfBothQueuePairs() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        client.pathMtu(Mtu.MTU_512);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        CmId server = accepted(client);
        assertThat(client.queuePair().query().pathMtu()).isEqualTo(Mtu.MTU_512);
        assertThat(server.queuePair().query().pathMtu()).isEqualTo(Mtu.MTU_512);
    }

    /** Five repetitions outlast a pause of a second, as under Linux: the third refusal comes 655 ms after the second. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void receiveMayComeLateThoughItsPeerRepeatsAFewTimesOnly(int retries) throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters().rnrRetryCount(retries));
        CmId server = request();
        server.createQueuePair(reliable());
        server.accept(new ConnectionParameters().rnrRetryCount(retries));
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        assertThat(server.queuePair().query().minRnrTimerCode()).isZero();
        try (MemoryRegion sent = client.protectionDomain().allocateRegion(64);
                MemoryRegion received = server.protectionDomain().allocateRegion(64,
                        AccessFlag.LOCAL_WRITE)) {
            client.postSend(1, sent, 0, 64, SendFlag.SIGNALED);
            int times = retries == 5 ? 3 : 1;
            Wait.until("the receiver was not ready", () -> server.queuePair().counters()
                    .getOrDefault("send_rnr_err", 0L) >= times);
            server.postReceive(2, received, 0, 64);
            assertThat(client.pollSendCompletion(LONG)).isNotNull()
                    .returns(WorkCompletionStatus.SUCCESS, WorkCompletion::status);
        }
    }

    @Test
    void portIsSharedByThoseWhoAgreeAndOneOfThemListens() throws Exception {
        CmId first = id(PortSpace.TCP);
        first.reuseAddress(true);
        first.bindAddress(anyPort(OWN));
        CmId probe = id(PortSpace.TCP);
        assertRefused(() -> probe.bindAddress(first.localAddress()), Errno.EADDRINUSE, "port");

        InetSocketAddress chosen = first.localAddress();
        first.close();
        CmId second = id(PortSpace.TCP);
        second.reuseAddress(true);
        second.bindAddress(chosen);
        CmId third = id(PortSpace.TCP);
        third.reuseAddress(true);
        third.bindAddress(chosen);
        second.listen(1);
        assertRefused(() -> third.listen(1), Errno.EADDRINUSE, "listener");
        assertRefused(() -> third.reuseAddress(false), Errno.EINVAL, "bound");
    }

    @Test
    void portIsSharedAlsoByWhoAgreesAfterItIsBound() throws Exception {
        CmId first = id(PortSpace.TCP);
        first.bindAddress(anyPort(OWN));
        CmId second = id(PortSpace.TCP);
        second.reuseAddress(true);
        assertRefused(() -> second.bindAddress(first.localAddress()), Errno.EADDRINUSE, "share");
        first.reuseAddress(true);
        second.bindAddress(first.localAddress());
        second.listen(1);
        assertRefused(() -> second.reuseAddress(true), Errno.EINVAL, "listens");
        second.close();
        // The port is still held by the first.
        assertRefused(() -> id(PortSpace.TCP).bindAddress(first.localAddress()), Errno.EADDRINUSE);
        first.listen(1);
    }

    @Test
    void anyPortIsOneThatNobodyHasThoughAllAgreeToShare() throws Exception {
        Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            CmId id = id(PortSpace.TCP);
            id.reuseAddress(true);
            id.bindAddress(anyPort(OWN));
            assertThat(ports.add(id.localPort())).isTrue();
        }
    }

    @Test
    void oneIpVersionCanBeChosenUntilTheIdListens() throws Exception {
        CmId id = id(PortSpace.TCP);
        id.bindAddress(anyPort("0.0.0.0"));
        id.addressFamilyOnly(true);
        id.listen(1);
        assertThat(id.listenAddresses()).isNotEmpty()
                .allMatch(address -> address.getAddress() instanceof Inet4Address);
        assertRefused(() -> id.addressFamilyOnly(false), Errno.EINVAL, "listens");
    }

    @Test
    void moreReadsThanTheDeviceCanHoldAreRefused() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        assertRefused(() -> client.connect(new ConnectionParameters().responderResources(129)),
                Errno.EINVAL, "responderResources", "129", "128");
        assertRefused(() -> client.connect(new ConnectionParameters().initiatorDepth(254)),
                Errno.EINVAL, "initiatorDepth", "254", "128");
        client.connect(new ConnectionParameters().responderResources(128)
                .initiatorDepth(ConnectionParameters.MAXIMUM));
        CmId server = request();
        server.createQueuePair(reliable());
        assertRefused(() -> server.accept(new ConnectionParameters().initiatorDepth(200)),
                Errno.EINVAL, "accept", "200", "128");
        server.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        assertThat(server.queuePair().query().maxReadAtomic()).isEqualTo(128);
        assertThat(server.queuePair().query().maxDestinationReadAtomic()).isEqualTo(128);
    }

    @Test
    void peersLearnWhetherReceivesAreSharedFromTheQueuePairs() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters().sharedReceiveQueue(false));
        CmId server;
        try (CmEvent event = expect(CmEventType.CONNECT_REQUEST)) {
            server = closedAtEnd(event.id());
            assertThat(event.parameters()).isNotNull()
                    .matches(ConnectionParameters::sharedReceiveQueue);
        }
        server.createQueuePair(reliable());
        server.accept(new ConnectionParameters().sharedReceiveQueue(true));
        for (int i = 0; i < 2; i++) {
            try (CmEvent event = expect(CmEventType.ESTABLISHED)) {
                if (event.id() == client) {
                    assertThat(event.parameters()).isNotNull()
                            .matches(parameters -> !parameters.sharedReceiveQueue());
                }
            }
        }
    }

    @Test
    void everyParameterArrivesAtThePeer() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters().privateData(bytes("ask")).responderResources(3)
                .initiatorDepth(4).flowControl(false).retryCount(5).rnrRetryCount(6)
                .sharedReceiveQueue(true).queuePairNumber(77));
        CmId server;
        try (CmEvent event = expect(CmEventType.CONNECT_REQUEST)) {
            server = closedAtEnd(event.id());
            ConnectionParameters asked = event.parameters();
            assertThat(asked).isNotNull();
            assertThat(event.listenId()).isSameAs(listener);
            assertThat(event.status()).isZero();
            assertThat(event.privateData()).startsWith(bytes("ask")).hasSize(56);
            // Each side's own resources are what the other may use.
            assertThat(asked.responderResources()).isEqualTo(4);
            assertThat(asked.initiatorDepth()).isEqualTo(3);
            assertThat(asked.flowControl()).isFalse();
            assertThat(asked.retryCount()).isEqualTo(5);
            assertThat(asked.rnrRetryCount()).isEqualTo(6);
            assertThat(asked.sharedReceiveQueue()).isTrue();
            assertThat(asked.queuePairNumber()).isEqualTo(77);
        }
        server.accept(new ConnectionParameters().privateData(bytes("grant")).responderResources(2)
                .initiatorDepth(1).flowControl(true).rnrRetryCount(0).sharedReceiveQueue(true)
                .queuePairNumber(88));
        try (CmEvent event = expect(CmEventType.CONNECT_RESPONSE)) {
            ConnectionParameters granted = event.parameters();
            assertThat(granted).isNotNull();
            assertThat(event.id()).isSameAs(client);
            assertThat(event.listenId()).isNull();
            assertThat(event.privateData()).startsWith(bytes("grant")).hasSize(196);
            assertThat(granted.responderResources()).isEqualTo(1);
            assertThat(granted.initiatorDepth()).isEqualTo(2);
            assertThat(granted.flowControl()).isTrue();
            assertThat(granted.rnrRetryCount()).isZero();
            assertThat(granted.sharedReceiveQueue()).isTrue();
            assertThat(granted.queuePairNumber()).isEqualTo(88);
        }
    }

    @Test
    void wildcardOfOneIpVersionServesThatOneOnly() throws Exception {
        requireIpv6();
        CmId ipv4 = id(PortSpace.TCP);
        ipv4.addressFamilyOnly(true);
        ipv4.bindAddress(anyPort("0.0.0.0"));
        ipv4.listen(1);
        assertThat(ipv4.listenAddresses())
                .allMatch(address -> address.getAddress().getAddress().length == 4);
        CmId ipv6 = id(PortSpace.TCP);
        ipv6.addressFamilyOnly(true);
        ipv6.bindAddress(
                new InetSocketAddress(InetAddress.ofLiteral("::"), ipv4.localPort()));
        ipv6.listen(1);
        CmId client = id(PortSpace.TCP);
        resolve(client, new InetSocketAddress(InetAddress.ofLiteral("::1"), ipv6.localPort()));
        client.connect(new ConnectionParameters().queuePairNumber(5));
        try (CmEvent event = expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(event.listenId()).isSameAs(ipv6);
            closedAtEnd(event.id());
        }
    }

    @Test
    void acceptingWithoutParametersGrantsWhatWasAskedFor() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters().responderResources(3).initiatorDepth(2)
                .privateData(bytes("mine")));
        CmId server = request();
        server.createQueuePair(reliable());
        server.accept();
        for (int i = 0; i < 2; i++) {
            try (CmEvent event = expect(CmEventType.ESTABLISHED)) {
                if (event.id() == client) {
                    assertThat(event.privateData()).containsOnly(0);
                }
            }
        }
        assertThat(server.queuePair().query().maxReadAtomic()).isEqualTo(3);
        assertThat(server.queuePair().query().maxDestinationReadAtomic()).isEqualTo(2);
    }

    // ---------------------------------------------------------------- channels

    @Test
    void migratedIdTakesItsEventsAlong() throws Exception {
        CmId id = id(PortSpace.TCP);
        CmId other = id(PortSpace.TCP);
        id.writeEvent(1, 10);
        other.writeEvent(2, 20);
        id.writeEvent(3, 30);
        CmEventChannel target = CmEventChannel.create();
        id.migrate(target);
        id.writeEvent(4, 40);
        assertThat(id.channel()).isSameAs(target);
        for (int status : new int[]{1, 3, 4}) {
            try (CmEvent event = expect(target, CmEventType.USER)) {
                assertThat(event.status()).isEqualTo(status);
                assertThat(event.argument()).isEqualTo(10L * status);
            }
        }
        try (CmEvent event = expect(CmEventType.USER)) {
            assertThat(event.id()).isSameAs(other);
        }
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
        id.close();
        target.close();
    }

    @Test
    void migratedListenerTakesRequestsAlongThatNobodyHasTaken() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = closedAtEnd(CmId.create(CmEventChannel.create(), PortSpace.TCP));
        CmEventChannel clients = client.channel();
        client.resolveAddress(listener.localAddress(), TIMEOUT);
        expect(clients, CmEventType.ADDR_RESOLVED).close();
        client.resolveRoute(TIMEOUT);
        expect(clients, CmEventType.ROUTE_RESOLVED).close();
        client.connect(new ConnectionParameters().queuePairNumber(5));
        CmEventChannel target = CmEventChannel.create();
        listener.migrate(target);
        CmEvent request = expect(target, CmEventType.CONNECT_REQUEST);
        assertThat(request.id().channel()).isSameAs(target);
        request.acknowledge();
        request.id().close();
        listener.close();
        expect(clients, CmEventType.REJECTED).close();
        target.close();
    }

    @Test
    void idWithAnUnacknowledgedEventCannotMigrate() throws Exception {
        CmId id = id(PortSpace.TCP);
        id.writeEvent(0, 0);
        CmEventChannel target = CmEventChannel.create();
        try (CmEvent event = expect(CmEventType.USER)) {
            assertThat(event.status()).isZero();
            assertRefused(() -> id.migrate(target), Errno.EBUSY, "1 event");
        }
        id.migrate(target);
        id.close();
        target.close();
    }

    @Test
    void userEventWakesAThreadThatWaits() throws Exception {
        CmId id = id(PortSpace.TCP);
        CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> {
            try (CmEvent event = events.awaitEvent()) {
                return event.argument();
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        id.writeEvent(0, 0xffff_ffff_ffffL);
        assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo(0xffff_ffff_ffffL);
    }

    // ---------------------------------------------------------------- names and devices

    @Test
    void namesAreResolvedInTheBackground() throws Exception {
        CmId id = id(PortSpace.TCP);
        assertRefused(id::queryAddressInfo, Errno.ENODATA, "ADDRINFO_RESOLVED");
        id.resolveAddressInfo("127.0.0.1", "7471", new Hints());
        expect(CmEventType.ADDRINFO_RESOLVED).close();
        assertThat(id.queryAddressInfo()).hasSize(1).first()
                .extracting(AddressInfo::destination)
                .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7471));
        id.resolveAddressInfo("no.such.host.invalid", "1",
                new Hints().set(AddressInfo.Flag.NUMERIC_HOST));
        try (CmEvent event = expect(CmEventType.ADDRINFO_ERROR)) {
            assertThat(event.status()).isEqualTo(-Errno.EHOSTUNREACH.number());
        }
    }

    @Test
    void synchronousIdsWaitForNames() throws Exception {
        CmId id = closedAtEnd(CmId.create(PortSpace.TCP));
        id.resolveAddressInfo("::1", "1", new Hints());
        assertThat(id.queryAddressInfo()).hasSize(1);
        assertRefused(() -> id.resolveAddressInfo("nonsense here", "1",
                new Hints().set(AddressInfo.Flag.NUMERIC_HOST)), Errno.EHOSTUNREACH);
    }

    @Test
    void devicesOfIdsCanBeUsedBeforeThereAreIds() throws Exception {
        try (CmDevices devices = CmDevices.open()) {
            DeviceContext loopback = devices.contexts().stream()
                    .filter(context -> context.device().name().equals("roce_lo")).findFirst()
                    .orElseThrow();
            CmId id = id(PortSpace.TCP);
            id.bindAddress(anyPort(OWN));
            assertThat(id.context()).isSameAs(loopback);
            try (ProtectionDomain domain = loopback.allocateProtectionDomain()) {
                id.createQueuePair(domain, reliable());
                assertThat(id.protectionDomain()).isSameAs(domain);
                id.closeQueuePair();
            }
        }
    }
}
