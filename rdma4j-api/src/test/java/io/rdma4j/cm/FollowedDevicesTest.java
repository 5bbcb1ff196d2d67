// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.AbsentDevice;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A listener at the wildcard address, while devices come and go. */
class FollowedDevicesTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    /** Between two looks, so that a wait leaves the processor to whom it waits for, and to other tests. */
    private static final long REST_NS = 100_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    /** As many as are followed without a rest. */
    private static final int STEPS = 19;
    private static final AbsentDevice LATE = new AbsentDevice("roce_eth0",
            TransportType.INFINIBAND, "the network interface eth0 is down");

    private final FakeDevice roce = device("roce_eth0");
    private final FakeDevice iwarp = device("iwarp_eth0");
    private final FakeDevice loopback = device("roce_lo");
    private final CmEventChannel events = CmEventChannel.create();
    private final CmId listener;
    @RegisterExtension
    final LogLines log = LogLines.of(DeviceListeners.class, UnservedDevices.class);

    FollowedDevicesTest() throws Exception {
        listener = CmId.create(events, PortSpace.TCP);
    }

    private static FakeDevice device(String name) {
        return new FakeDevice(name, DeviceKind.SOFTWARE, TransportType.INFINIBAND);
    }

    @BeforeEach
    void reportChanges() {
        FakeProvider.reportChanges(true);
    }

    @AfterEach
    void close() throws Exception {
        listener.close();
        assertThat(FakeProvider.watching()).isZero();
        FakeProvider.reportChanges(false);
        FakeProvider.mayCome();
        FakeProvider.offer(FakeProvider.DEVICE);
        for (FakeDevice each : List.of(roce, iwarp, loopback)) {
            until("all is closed", () -> each.opened.stream().allMatch(open -> open.isClosed));
        }
        // Otherwise it would log during the next test.
        until("no thread follows any more", FollowedDevicesTest::hasNoThread);
        events.close();
    }

    private void listen() throws RdmaException {
        listener.bindAddress(new InetSocketAddress(7471));
        listener.listen(1);
    }

    private static void until(String what, BooleanSupplier condition) {
        long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - startNs).as("waited in vain until " + what)
                    .isLessThan(PATIENCE_NS);
            LockSupport.parkNanos(REST_NS);
        }
    }

    private static boolean isServed(FakeDevice device) {
        return !device.opened.isEmpty() && device.context().open.get() == 1
                && !device.context().isClosed;
    }

    /** {@return whether no thread looks at devices now} One may wait until it is time to try again. */
    private static boolean nobodyFollows() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(each -> each.getName().equals("rdma4j-listen")
                        && each.getState() != Thread.State.TIMED_WAITING);
    }

    private static boolean hasNoThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(each -> each.getName().equals("rdma4j-listen"));
    }

    private static void awaitServed(FakeDevice device) {
        until(device.name() + " is listened on", () -> isServed(device));
    }

    private static void remove(FakeDevice device) {
        List.copyOf(device.context().watchers).forEach(CmContext.Watcher::onDeviceGone);
    }

    private static RdmaException tentative() {
        return new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                "roce_eth0 has no address that can be used");
    }

    private void expectNoEvent() throws RdmaException {
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    // ---------------------------------------------------------------- devices come

    @Test
    void deviceThatComesIsListenedOn() throws Exception {
        FakeProvider.offer(loopback);
        listen();
        FakeProvider.change(loopback, roce);
        awaitServed(roce);
        assertThat(loopback.context().listenCalls).hasSize(1);
        assertThat(roce.context().listenCalls.getFirst().port()).isEqualTo(7471);
    }

    @Test
    void requestByADeviceThatHasComeIsHeard() throws Exception {
        FakeProvider.offer(loopback);
        listen();
        FakeProvider.change(loopback, roce);
        awaitServed(roce);
        FakeContext context = roce.context();
        context.listenHandlers.getLast().onRequest(context, context.connection(),
                new InetSocketAddress(FakeDevice.FIRST, 7471),
                new InetSocketAddress(FakeDevice.SECOND, 2), new ConnectionParameters());
        try (CmEvent request = events.pollEvent(TIMEOUT)) {
            assertThat(request).isNotNull();
            assertThat(request.type()).isEqualTo(CmEventType.CONNECT_REQUEST);
            assertThat(request.id().context().device()).isSameAs(roce);
            request.acknowledge();
            request.id().close();
        }
    }

    @Test
    void listenerWithoutDevicesWaitsForThoseThatMayCome() throws Exception {
        FakeProvider.offer();
        FakeProvider.mayCome(LATE);
        listen();
        assertThat(log.lines()).singleElement().asString()
                .startsWith("WARNING nothing can be listened on yet: there is no RDMA device")
                .contains("eth0 is down");
        FakeProvider.change(roce);
        awaitServed(roce);
        until("it is said", () -> log.lines().contains("INFO roce_eth0 is listened on now"));
    }

    @Test
    void listenerOfANamedDeviceThatMayComeWaitsForIt() throws Exception {
        FakeProvider.offer(loopback);
        FakeProvider.mayCome(LATE);
        listener.device("roce_eth0");
        listen();
        FakeProvider.change(loopback, roce, iwarp);
        awaitServed(roce);
        assertThat(loopback.opened).isEmpty();
        assertThat(iwarp.opened).isEmpty();
    }

    @Test
    void listenerOfADeviceThatNobodyKnowsIsRefused() throws Exception {
        FakeProvider.offer(loopback);
        FakeProvider.mayCome(LATE);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> listener.device("roce_eth9"))
                .withMessageContaining("there is no device 'roce_eth9'");
    }

    @Test
    void nameOfADeviceWhoseInterfaceIsDownIsRefusedWithTheReason() throws Exception {
        FakeProvider.offer(loopback);
        FakeProvider.mayCome(LATE);
        listener.device("roce_eth0");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> listener
                        .bindAddress(new InetSocketAddress(FakeDevice.FIRST, 1)))
                .withMessageContaining("there is no device 'roce_eth0'")
                .withMessageContaining("eth0 is down");
    }

    @Test
    void listenerWithoutDevicesIsRefusedIfNoneMayCome() throws Exception {
        FakeProvider.offer();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::listen)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    /** No device that this id could use would ever come. */
    @Test
    void listenerIsRefusedIfOnlyDevicesMayComeWhoseTransportItExcludes() throws Exception {
        FakeProvider.offer();
        FakeProvider.mayCome(LATE);
        listener.excludedTransport(TransportType.INFINIBAND);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::listen)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    @Test
    void listenerThatExcludesAnotherTransportWaitsForTheDeviceThatMayCome() throws Exception {
        FakeProvider.offer();
        FakeProvider.mayCome(LATE);
        listener.excludedTransport(TransportType.IWARP);
        listen();
        FakeProvider.change(roce);
        awaitServed(roce);
        until("it is said", () -> log.lines().contains("INFO roce_eth0 is listened on now"));
    }

    @Test
    void nameOfADeviceThatMayComeIsRefusedIfItsTransportIsExcluded() throws Exception {
        FakeProvider.offer(loopback);
        FakeProvider.mayCome(LATE);
        listener.excludedTransport(TransportType.INFINIBAND);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> listener.device("roce_eth0"))
                .withMessageContaining("there is no device 'roce_eth0' but those of INFINIBAND");
    }

    @Test
    void deviceWhoseAddressesAreTriedOutIsListenedOnOnceItHasOne() throws Exception {
        roce.openFailure = tentative();
        FakeProvider.offer(roce);
        listen();
        FakeProvider.change(roce);
        FakeProvider.change(roce);
        roce.openFailure = null;
        FakeProvider.change(roce);
        awaitServed(roce);
        until("it is said", () -> log.lines().size() == 3);
        assertThat(log.lines()).containsExactly(
                "INFO roce_eth0 is not listened on: roce_eth0 has no address that can be used",
                "WARNING nothing can be listened on yet: no RDMA device can be opened: roce_eth0"
                        + " has no address that can be used",
                "INFO roce_eth0 is listened on now");
    }

    @Test
    void whatAnotherProcessHasEverywhereIsRefusedWhateverMayCome() throws Exception {
        FakeProvider.mayCome(LATE);
        loopback.listenFailure = new RdmaException(Errno.EADDRINUSE, "listen", "it is taken");
        FakeProvider.offer(loopback);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::listen)
                .withMessageContaining("it is taken");
    }

    @Test
    void portThatAnotherProcessGivesBackIsListenedAtWithoutAChange() throws Exception {
        roce.listenFailure = new RdmaException(Errno.EADDRINUSE, "listen", "it is taken");
        FakeProvider.offer(loopback, roce);
        listen();
        assertThat(log.lines())
                .containsExactly("WARNING roce_eth0 is not listened on: it is taken");
        roce.listenFailure = null;
        awaitServed(roce);
        assertThat(roce.opened).hasSize(1);
        until("it is said", () -> log.lines().size() == 2);
        assertThat(log.lines()).last().isEqualTo("INFO roce_eth0 is listened on now");
    }

    @Test
    void deviceThatCannotBeOpenedForAReasonThatMayPassIsTriedAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        roce.onOpen = tries::incrementAndGet;
        roce.openFailure = new RdmaException(Errno.EMFILE, "open device", "not now");
        FakeProvider.offer(loopback, roce);
        listen();
        until("it is tried again", () -> tries.get() > 1);
        assertThat(log.lines()).singleElement().asString().contains("not now");
        roce.openFailure = null;
        awaitServed(roce);
        until("it is said", () -> log.lines().size() == 2);
    }

    /** As the test above and the one below, without the second after which each would be tried again. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"EADDRINUSE", "EACCES", "EBUSY", "EAGAIN",
        "ETIMEDOUT", "EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "ENODEV", "EADDRNOTAVAIL",
        "ENETDOWN"})
    void reasonsThatMayPassAreThese(Errno reason) {
        UnservedDevices unserved = new UnservedDevices();
        unserved.add("iwarp_eth0", new RdmaException(Errno.EPERM, "open device", "never"));
        assertThat(unserved.mayPass()).isFalse();
        unserved.add("roce_eth0", new RdmaException(reason, "open device", "not now"));
        assertThat(unserved.mayPass()).isTrue();
        unserved.add("roce_eth0", new RdmaException(reason, "open device", "not now"));
        assertThat(log.lines()).hasSize(2).last().asString().contains("not now");
        unserved.remove("roce_eth0");
        assertThat(unserved.mayPass()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"EPERM", "EOPNOTSUPP", "ENOSYS"})
    void deviceThatCannotBeOpenedForAReasonThatLastsIsNotTriedAgain(Errno reason)
            throws Exception {
        AtomicInteger tries = new AtomicInteger();
        roce.onOpen = tries::incrementAndGet;
        roce.openFailure = new RdmaException(reason, "open device", "never");
        FakeProvider.offer(loopback, roce);
        listen();
        assertThat(tries).hasValue(1);
        assertThat(nobodyFollows()).isTrue();
    }

    @Test
    void listenerThatIsClosedDoesNotTryAgain() throws Exception {
        roce.openFailure = new RdmaException(Errno.EADDRINUSE, "open device", "it is taken");
        FakeProvider.offer(loopback, roce);
        listen();
        listener.close();
        until("its thread has ended", FollowedDevicesTest::hasNoThread);
    }

    /** An address of an interface that was deleted between two looks, or one that a filter keeps this program from. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENODEV", "EPERM", "EACCES", "EMFILE", "EIO"})
    void deviceThatCannotListenDoesNotKeepOthersFromIt(Errno reason) throws Exception {
        loopback.listenFailure = new RdmaException(reason, "listen", "not here");
        FakeProvider.offer(loopback, roce);
        listen();
        assertThat(isServed(roce)).isTrue();
        assertThat(log.lines())
                .anyMatch(line -> line.endsWith("roce_lo is not listened on: not here"));
    }

    @Test
    void deviceThatCannotListenWithoutOthersIsRefusedWithItsReason() throws Exception {
        loopback.listenFailure = new RdmaException(Errno.EPERM, "listen", "not here");
        FakeProvider.offer(loopback);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::listen)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
    }

    // ---------------------------------------------------------------- devices go

    @Test
    void listenerOutlivesItsLastDeviceAndListensOnTheNext() throws Exception {
        FakeProvider.offer(roce);
        listen();
        FakeContext gone = roce.context();
        FakeProvider.offer();
        remove(roce);
        until("the device is given back", () -> gone.isClosed);
        expectNoEvent();
        FakeProvider.change(roce);
        awaitServed(roce);
        assertThat(roce.context()).isNotSameAs(gone);
        expectNoEvent();
    }

    /** The interface was deleted and made again before anybody looked. */
    @Test
    void deviceThatWasReplacedIsListenedOnAnew() throws Exception {
        FakeProvider.offer(roce);
        listen();
        FakeContext gone = roce.context();
        remove(roce);
        until("the new one is listened on",
                () -> !roce.context().equals(gone) && isServed(roce));
        until("the old one is given back", () -> gone.isClosed);
    }

    /** Its addresses may come back, and its connections may live. */
    @Test
    void deviceThatIsNotListedForAWhileIsListenedOnAllTheTime() throws Exception {
        FakeProvider.offer(roce, loopback);
        listen();
        FakeProvider.change(loopback);
        FakeProvider.change(loopback, iwarp);
        awaitServed(iwarp);
        assertThat(isServed(roce)).isTrue();
        FakeProvider.change(roce, loopback, iwarp);
        assertThat(roce.opened).hasSize(1);
    }

    // ---------------------------------------------------------------- in every order

    /** What a device is, apart from what it is listened on. */
    private static final class Modelled {
        final FakeDevice device;
        boolean isListed;
        boolean isTentative;
        /** It stays open while another process has the port. */
        boolean isOpen;
        boolean isServed;

        Modelled(FakeDevice device) {
            this.device = device;
        }

        /** A device that is not there cannot be opened by who has just seen it listed. */
        void appear() {
            device.openFailure = isListed && !isTentative ? null : tentative();
        }

        void follow() {
            isOpen |= isListed && !isTentative;
            isServed |= isListed && isOpen && device.listenFailure == null;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void whateverChangesInWhateverOrderAllThatCanBeIsListenedOn(int seed) throws Exception {
        Random random = new Random(seed);
        List<Modelled> all = List.of(new Modelled(roce), new Modelled(iwarp),
                new Modelled(loopback));
        FakeProvider.mayCome(LATE);
        FakeProvider.offer();
        listen();
        for (int step = 0; step < STEPS; step++) {
            Modelled changed = all.get(random.nextInt(all.size()));
            FakeDevice device = changed.device;
            switch (random.nextInt(4)) {
                case 0 -> changed.isListed = !changed.isListed;
                case 1 -> changed.isTentative = !changed.isTentative;
                case 2 -> device.listenFailure = device.listenFailure == null
                        ? new RdmaException(Errno.EADDRINUSE, "listen", "it is taken")
                        : null;
                default -> changed.isListed &= !changed.isServed;
            }
            changed.appear();
            boolean isRemoved = changed.isServed && !changed.isListed && random.nextBoolean();
            FakeProvider.offer(all.stream().filter(each -> each.isListed)
                    .map(each -> each.device).toArray(FakeDevice[]::new));
            if (isRemoved) {
                changed.isServed = false;
                changed.isOpen = false;
                remove(device);
            }
            all.forEach(Modelled::follow);
            // Whoever lists them from now on lists them as they are.
            long looks = FakeProvider.looks();
            FakeProvider.change(all.stream().filter(each -> each.isListed)
                    .map(each -> each.device).toArray(FakeDevice[]::new));
            until("seed " + seed + ", step " + step + ": the change has been followed",
                    () -> FakeProvider.looks() > looks);
            until("nobody acts on an earlier list", FollowedDevicesTest::nobodyFollows);
            for (Modelled each : all) {
                until("seed " + seed + ", step " + step + ": " + each.device.name()
                        + " is served: " + each.isServed,
                        () -> isServed(each.device) == each.isServed);
            }
        }
        expectNoEvent();
    }
}
