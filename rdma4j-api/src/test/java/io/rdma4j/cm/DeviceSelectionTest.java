// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which of several devices an id gets, and what each of them is asked. */
class DeviceSelectionTest extends IdsOfSeveralDevices {
    @RegisterExtension
    final LogLines log = LogLines.of(DeviceSelection.class);

    // ---------------------------------------------------------------- the order

    @Test
    void nativeDeviceComesBeforeSoftRoceBeforeSoftIwarp() throws Exception {
        FakeProvider.offer(softIwarp, softRoce, nativeDevice);
        assertThat(RdmaDevices.list()).extracting(RdmaDevice::name).containsExactly("zzz0",
                "roce0", "iwarp0");
        assertThat(deviceOf(bound(FIRST))).isEqualTo("zzz0");
        FakeProvider.offer(softIwarp, softRoce);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
        FakeProvider.offer(softIwarp);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("iwarp0");
    }

    @Test
    void whatIsOpenAlreadyChangesNothing() throws Exception {
        FakeProvider.offer(softIwarp);
        CmId early = bound(FIRST);
        FakeProvider.offer(softIwarp, softRoce, nativeDevice);
        CmId late = bound(FIRST);
        assertThat(deviceOf(early)).isEqualTo("iwarp0");
        assertThat(deviceOf(late)).isEqualTo("zzz0");
        CmId resolved = id();
        resolved.resolveAddress(new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        assertThat(deviceOf(resolved)).isEqualTo("zzz0");
    }

    @Test
    void familyOfDevicesIsNamedByWhatTheirNamesBeginWith() throws Exception {
        FakeDevice ofFamily = new FakeDevice("iwarp_lo", DeviceKind.SOFTWARE, TransportType.IWARP);
        FakeProvider.offer(ofFamily, softIwarp, softRoce, nativeDevice);
        System.setProperty("rdma4j.device", "iwarp");
        assertThat(deviceOf(bound(FIRST))).isEqualTo("iwarp_lo");
        // The device of exactly that name is not one of several.
        FakeDevice sharingPrefix = new FakeDevice("iwarp_lo_1", DeviceKind.SOFTWARE,
                TransportType.IWARP);
        FakeProvider.offer(sharingPrefix, ofFamily);
        System.setProperty("rdma4j.device", "iwarp_lo");
        CmId listener = bound(ANY);
        listener.listen(1);
        assertThat(ofFamily.context().listenCalls).hasSize(1);
        assertThat(sharingPrefix.opened).isEmpty();
        System.setProperty("rdma4j.device", "iwa");
        assertRefused(() -> bound(FIRST), Errno.ENODEV, "'iwa'", "iwarp_lo");
    }

    @Test
    void devicesOfAnExcludedTransportAreNotUsed() throws Exception {
        FakeProvider.offer(softIwarp, softRoce);
        CmId listener = id();
        listener.excludedTransport(TransportType.IWARP);
        listener.bindAddress(ANY);
        listener.listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        assertThat(softIwarp.opened).isEmpty();
        CmId other = id();
        other.excludedTransport(TransportType.INFINIBAND);
        other.bindAddress(FIRST);
        assertThat(deviceOf(other)).isEqualTo("iwarp0");
        assertRefused(() -> other.excludedTransport(null), Errno.EINVAL, "exclude transport");
    }

    @Test
    void excludedTransportMayLeaveNoDevice() throws Exception {
        FakeProvider.offer(softIwarp);
        CmId id = id();
        id.excludedTransport(TransportType.IWARP);
        assertRefused(() -> id.bindAddress(FIRST), Errno.ENODEV,
                "but those of IWARP", "iwarp0");
        assertRefused(() -> id.device("iwarp0"), Errno.ENODEV, "'iwarp0'", "IWARP");
        id.excludedTransport(null);
        id.bindAddress(FIRST);
        assertThat(deviceOf(id)).isEqualTo("iwarp0");
    }

    @Test
    void devicesOfOneKindAreInTheOrderOfTheirNames() throws Exception {
        FakeDevice other = new FakeDevice("roce1", DeviceKind.SOFTWARE, TransportType.INFINIBAND);
        FakeProvider.offer(other, softRoce);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
    }

    @Test
    void deviceThatDoesNotHostTheAddressIsPassedOver() throws Exception {
        nativeDevice.hosted = List.of(FakeDevice.SECOND);
        FakeProvider.offer(softRoce, nativeDevice);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
    }

    /** Two interfaces with one MAC address have the same link-local address. */
    @Test
    void linkLocalAddressOfTwoDevicesIsThatOfTheInterfaceThatItNames() throws Exception {
        InetAddress both = InetAddress.ofLiteral("fe80::1");
        softRoce.hosted = List.of(AddressScope.on(both, 7));
        FakeDevice other = new FakeDevice("roce1", DeviceKind.SOFTWARE, TransportType.INFINIBAND);
        other.hosted = List.of(AddressScope.on(both, 8));
        FakeProvider.offer(softRoce, other);
        for (int port : new int[]{0, 7471}) {
            CmId first = bound(new InetSocketAddress(AddressScope.on(both, 7), port));
            CmId second = bound(new InetSocketAddress(AddressScope.on(both, 8), port));
            assertThat(deviceOf(first)).isEqualTo("roce0");
            assertThat(deviceOf(second)).isEqualTo("roce1");
            CmId third = id();
            assertRefused(() -> third.bindAddress(second.localAddress()), Errno.EADDRINUSE,
                    "another id");
        }
        assertRefused(() -> bound(new InetSocketAddress(AddressScope.on(both, 9), 0)),
                Errno.EADDRNOTAVAIL, "fe80:0:0:0:0:0:0:1%9");
    }

    @Test
    void packetsLeaveByTheInterfaceThatALinkLocalDestinationNames() throws Exception {
        // Addresses that this machine lacks, so that its own routing has no say.
        InetAddress own = InetAddress.ofLiteral("2001:db8:7::5");
        InetAddress peer = InetAddress.ofLiteral("fe80::b");
        softRoce.hosted = List.of(own);
        softRoce.interfaceIndex = 8;
        FakeProvider.offer(softRoce);
        CmId right = bound(new InetSocketAddress(own, 0));
        softRoce.context().addresses.add(own);
        right.resolveAddress(new InetSocketAddress(AddressScope.on(peer, 8), 7471), TIMEOUT);
        right.resolveRoute(TIMEOUT);
        CmId wrong = bound(new InetSocketAddress(own, 0));
        wrong.resolveAddress(new InetSocketAddress(AddressScope.on(peer, 7), 7471), TIMEOUT);
        assertRefused(() -> wrong.resolveRoute(TIMEOUT), Errno.ENETUNREACH,
                "fe80:0:0:0:0:0:0:b%7 is on another link than roce0");
    }

    // ---------------------------------------------------------------- by name

    @Test
    void idTakesTheDeviceThatItNames() throws Exception {
        FakeProvider.offer(softIwarp, softRoce, nativeDevice);
        CmId id = id();
        id.device("iwarp0");
        id.bindAddress(FIRST);
        assertThat(deviceOf(id)).isEqualTo("iwarp0");
        assertRefused(() -> id.device("roce0"), Errno.EINVAL, "bound");
        CmId resolved = id();
        resolved.device("roce0");
        resolved.resolveAddress(new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        assertThat(deviceOf(resolved)).isEqualTo("roce0");
    }

    @Test
    void propertyNamesTheDeviceOfIdsThatNameNone() throws Exception {
        FakeProvider.offer(softIwarp, softRoce, nativeDevice);
        System.setProperty("rdma4j.device", "roce0");
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
        CmId named = id();
        named.device("iwarp0");
        named.bindAddress(FIRST);
        assertThat(deviceOf(named)).isEqualTo("iwarp0");
    }

    @Test
    void nameOfNoDeviceIsRefusedWithTheCandidatesAndWhatTheyServe() throws Exception {
        softRoce.hosted = List.of(FakeDevice.FIRST);
        softIwarp.hosted = List.of(FakeDevice.SECOND);
        FakeProvider.offer(softIwarp, softRoce);
        CmId id = id();
        assertRefused(() -> id.device("mlx5_0"), Errno.ENODEV, "'mlx5_0'", "roce0 (203.0.113.5)",
                "iwarp0 (203.0.113.6)");
        System.setProperty("rdma4j.device", "mlx5_1");
        assertRefused(() -> id.bindAddress(FIRST), Errno.ENODEV, "'mlx5_1'", "rdma4j.device");
    }

    @Test
    void addressThatTheNamedDeviceDoesNotServeIsRefused() throws Exception {
        softRoce.hosted = List.of(FakeDevice.SECOND);
        FakeProvider.offer(softRoce, nativeDevice);
        CmId id = id();
        id.device("roce0");
        assertRefused(() -> id.bindAddress(FIRST), Errno.EADDRNOTAVAIL, "203.0.113.5",
                "roce0 (203.0.113.6)");
    }

    @Test
    void wildcardListenerOfANamedDeviceListensThereAlone() throws Exception {
        FakeProvider.offer(softRoce, nativeDevice);
        CmId id = id();
        id.device("roce0");
        id.listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        assertThat(nativeDevice.opened).isEmpty();
    }

    // ---------------------------------------------------------------- opening and closing

    @Test
    void deviceThatOpensSlowlyKeepsIdsOfOthersFromNothing() throws Exception {
        softRoce.hosted = List.of(FakeDevice.FIRST);
        softIwarp.hosted = List.of(FakeDevice.SECOND);
        FakeProvider.offer(softIwarp, softRoce);
        CountDownLatch isOpening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        softRoce.onOpen = () -> {
            isOpening.countDown();
            await(mayOpen);
        };
        CmId slow = id();
        CompletableFuture<Void> binding = CompletableFuture.runAsync(() -> {
            try {
                slow.bindAddress(FIRST);
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        }, DeviceSelectionTest::inThread);
        await(isOpening);
        try {
            CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> {
                try (CmId quick = CmId.create(PortSpace.TCP)) {
                    quick.bindAddress(new InetSocketAddress(FakeDevice.SECOND, 0));
                    return deviceOf(quick);
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            }, DeviceSelectionTest::inThread);
            assertThat(other.get(20, TimeUnit.SECONDS)).isEqualTo("iwarp0");
            assertThat(softIwarp.context().isClosed).isTrue();
        } finally {
            mayOpen.countDown();
        }
        binding.get(20, TimeUnit.SECONDS);
    }

    private static void inThread(Runnable task) {
        Thread.ofPlatform().daemon().start(task);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void deviceThatCannotBeOpenedIsOpenedByTheNextAttempt() throws Exception {
        FakeProvider.offer(softRoce);
        softRoce.onOpen = () -> {
            throw new IllegalStateException("broken");
        };
        CmId id = id();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> id.bindAddress(FIRST)).withMessage("broken");
        softRoce.onOpen = () -> {};
        id.bindAddress(FIRST);
        assertThat(deviceOf(id)).isEqualTo("roce0");
    }

    // ---------------------------------------------------------------- devices that cannot be used

    private static RdmaException denied(String device) {
        return new RdmaException(Errno.EACCES, "open device", device + " may not be opened");
    }

    @Test
    void deviceThatCannotBeOpenedGivesWayToTheNext() throws Exception {
        nativeDevice.openFailure = denied("zzz0");
        FakeProvider.offer(softRoce, nativeDevice);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
        CmId resolved = id();
        resolved.resolveAddress(new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        assertThat(deviceOf(resolved)).isEqualTo("roce0");
    }

    @Test
    void deviceThatIsNamedAndCannotBeOpenedIsRefusedWithItsReason() throws Exception {
        nativeDevice.openFailure = denied("zzz0");
        FakeProvider.offer(softRoce, nativeDevice);
        CmId id = id();
        id.device("zzz0");
        assertRefused(() -> id.bindAddress(FIRST), Errno.EACCES, "zzz0 may not be opened");
    }

    @Test
    void whereNoDeviceCanBeOpenedTheReasonOfTheBestIsGiven() throws Exception {
        nativeDevice.openFailure = denied("zzz0");
        softRoce.openFailure = denied("roce0");
        FakeProvider.offer(softRoce, nativeDevice);
        assertRefused(() -> bound(FIRST), Errno.EACCES, "zzz0");
    }

    private static RdmaException held() {
        return new RdmaException(Errno.EADDRINUSE, "open device", "it is held");
    }

    @Test
    void whereAnotherProcessHoldsTheAddressTheNextDeviceIsTaken() throws Exception {
        softRoce.openFailure = held();
        FakeProvider.offer(softRoce, softIwarp);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("iwarp0");
        CmId resolved = id();
        resolved.resolveAddress(new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        assertThat(deviceOf(resolved)).isEqualTo("iwarp0");
        CmId listener = bound(ANY);
        listener.listen(1);
        assertThat(softIwarp.context().listenCalls).hasSize(1);
    }

    @Test
    void addressThatAnotherProcessHoldsIsToldWhoAskedForTheDevice() throws Exception {
        softRoce.openFailure = held();
        FakeProvider.offer(softRoce, softIwarp);
        CmId id = id();
        id.device("roce0");
        assertRefused(() -> id.bindAddress(FIRST), Errno.EADDRINUSE, "it is held");
        System.setProperty("rdma4j.device", "roce0");
        assertRefused(() -> bound(FIRST), Errno.EADDRINUSE, "it is held");
        assertThat(softIwarp.opened).isEmpty();
    }

    @Test
    void aDeviceThatIsNotUsedAsItsAddressIsHeldIsToldOnce() throws Exception {
        softRoce.openFailure = new RdmaException(Errno.EADDRINUSE, "open device",
                "it is held by process 7 of this test");
        FakeProvider.offer(softRoce, softIwarp);
        bound(FIRST);
        bound(FIRST);
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING").contains(
                "roce0 is not used: open device: it is held by process 7 of this test");
    }

    @Test
    void deviceThatIdsCannotUseIsLeftAlone() throws Exception {
        nativeDevice.obstacle = "modprobe rdma_ucm";
        FakeProvider.offer(softRoce, nativeDevice);
        assertThat(deviceOf(bound(FIRST))).isEqualTo("roce0");
        CmId listener = bound(ANY);
        listener.listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        assertThat(nativeDevice.opened).isEmpty();
    }

    @Test
    void deviceThatIsNamedAndThatIdsCannotUseIsRefusedWithItsReason() throws Exception {
        nativeDevice.obstacle = "modprobe rdma_ucm";
        FakeProvider.offer(softRoce, nativeDevice);
        System.setProperty("rdma4j.device", "zzz0");
        assertRefused(() -> bound(FIRST), Errno.EOPNOTSUPP, "zzz0: modprobe rdma_ucm");
    }

    @Test
    void wildcardListenerDoesWithoutADeviceThatDoesNotListen() throws Exception {
        nativeDevice.listenFailure = RdmaException.unsupported("listen", "modprobe rdma_ucm");
        FakeProvider.offer(softRoce, nativeDevice);
        bound(ANY).listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        FakeProvider.offer(nativeDevice);
        CmId alone = bound(ANY);
        assertRefused(() -> alone.listen(1), Errno.EOPNOTSUPP, "modprobe rdma_ucm");
    }

    /** The first has nothing to offer: the next is asked for all of them. */
    @Test
    void oneListenerOfSeveralDevicesIsThatOfADeviceThatCanListen() throws Exception {
        SystemPorts ports = new SystemPorts();
        ports.hasOneWildcardListener = true;
        FakeDevice other = new FakeDevice("aaa0", DeviceKind.NATIVE, TransportType.INFINIBAND);
        other.listenFailure = RdmaException.unsupported("listen", "it has nothing of the kind");
        other.portAuthority = ports;
        nativeDevice.portAuthority = ports;
        FakeProvider.offer(other, nativeDevice);
        bound(ANY).listen(1);
        assertThat(nativeDevice.context().listenCalls).hasSize(1);
    }

    // ---------------------------------------------------------------- what the transport decides

    @Test
    void deviceLimitsPrivateData() throws Exception {
        FakeProvider.offer(softRoce);
        CmId client = id();
        client.resolveAddress(FIRST, new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        client.resolveRoute(TIMEOUT);
        assertThat(client.privateDataLimits().request()).isEqualTo(56);
        assertRefused(() -> client.connect(new ConnectionParameters().queuePairNumber(5)
                .privateData(new byte[57])), Errno.EINVAL, "57 bytes", "at most 56");
        CmId datagrams = id(PortSpace.UDP);
        datagrams.bindAddress(FIRST);
        assertThat(datagrams.privateDataLimits().request()).isEqualTo(180);
    }

    @Test
    void transportThatEstablishesAtOnceNeedsNoReply() throws Exception {
        FakeProvider.offer(softIwarp);
        CmId client = id();
        client.resolveAddress(FIRST, new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        client.resolveRoute(TIMEOUT);
        CmEventChannel events = CmEventChannel.create();
        client.migrate(events);
        client.connect(new ConnectionParameters().queuePairNumber(5));
        softIwarp.context().handlers.getLast()
                .onEstablished(new ConnectionParameters().responderResources(3));
        try (CmEvent event = events.pollEvent(TIMEOUT)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.ESTABLISHED);
            assertThat(event.parameters()).isNotNull();
            assertThat(event.parameters().responderResources()).isEqualTo(3);
        }
        client.disconnect();
        client.close();
        events.close();
    }

    @Test
    void deviceWithoutDatagramsRefusesThemByName() throws Exception {
        FakeProvider.offer(softIwarp);
        CmId id = id(PortSpace.UDP);
        id.bindAddress(FIRST);
        assertRefused(() -> id.listen(1), Errno.EOPNOTSUPP, "iwarp0", "datagrams");
        assertRefused(() -> id.joinMulticast(InetAddress.ofLiteral("239.1.2.3"), null),
                Errno.EOPNOTSUPP, "iwarp0");
    }

    @Test
    void wildcardDatagramServiceIsOfferedWhereThereAreDatagrams() throws Exception {
        FakeProvider.offer(softIwarp, softRoce);
        CmId id = id(PortSpace.UDP);
        id.listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        assertThat(softIwarp.context().listenCalls).isEmpty();
    }
}
