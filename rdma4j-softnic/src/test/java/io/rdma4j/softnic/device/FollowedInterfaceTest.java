// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.host.HostAddress;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmContext;
import io.rdma4j.testkit.LogLines;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static io.rdma4j.softnic.host.HostAddress.State.DEPRECATED;
import static io.rdma4j.softnic.host.HostAddress.State.DUPLICATE;
import static io.rdma4j.softnic.host.HostAddress.State.TENTATIVE;
import static io.rdma4j.softnic.host.HostAddress.State.USABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a device makes of its interface: addresses that come, are tried out, fail, go and come back. */
class FollowedInterfaceTest {
    private static final String OF_LINK = "fe80::1";
    private static final List<String> ADDRESSES = List.of(OF_LINK, "10.0.0.1", "10.0.0.2",
            "2001:db8::1", "2001:db8::2");

    private final SimulatedNetwork network = new SimulatedNetwork(1);
    @RegisterExtension
    final LogLines log = LogLines.of(UnservedAddresses.class);
    private final List<String> told = new ArrayList<>();
    private PortView atOpening = view("10.0.0.1", USABLE);
    @SuppressWarnings("NullAway.Init")
    private SoftNic nic;
    @SuppressWarnings("NullAway.Init")
    private SoftDeviceContext context;

    private static HostAddress address(String literal, HostAddress.State state) {
        return new HostAddress(InetAddress.ofLiteral(literal), state);
    }

    private static PortView view(HostAddress... addresses) {
        return view(true, Arrays.asList(addresses));
    }

    private static PortView view(String literal, HostAddress.State state) {
        return view(address(literal, state));
    }

    private static PortView view(boolean isUp, List<HostAddress> addresses) {
        return new PortView(true, isUp,
                addresses.stream().filter(HostAddress::isUsable).map(HostAddress::address).toList(),
                addresses.stream().filter(each -> !each.isUsable()).toList());
    }

    private void open() throws Exception {
        open(false);
    }

    private SoftDevice device(boolean isLoopback) {
        try {
            return new SoftDevice(RoceFamily.ROCE,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()),
                    isLoopback, () -> atOpening);
        } catch (SocketException e) {
            throw new AssertionError(e);
        }
    }

    private void open(boolean isLoopback) throws Exception {
        nic = new SoftNic(device(isLoopback),
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(null);
        context = SoftNic.contextOf(nic);
        context.watch(new CmContext.Watcher() {
            @Override
            public void onAddressChanged(InetAddress address) {
                told.add("lost " + address.getHostAddress());
            }

            @Override
            public void onDeviceGone() {
                told.add("gone");
            }
        });
    }

    private List<AsyncEventType> takeEvents() throws RdmaException {
        List<AsyncEventType> types = new ArrayList<>();
        AsyncEvent event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        while (event != null) {
            types.add(event.type());
            event.acknowledge();
            event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        }
        return types;
    }

    private List<String> table() {
        return nic.gids().stream().map(FollowedInterfaceTest::text).toList();
    }

    private static String text(Gid entry) {
        if (entry.isZero()) {
            return "";
        }
        return entry.isIpv4() ? entry.address().getHostAddress() : entry.addressText();
    }

    private static Gid gid(String literal) {
        return Gid.of(InetAddress.ofLiteral(literal));
    }

    // ---------------------------------------------------------------- one at a time

    @Test
    void addressesStandInTheOrderOfTheInterface() throws Exception {
        atOpening = view(address("10.0.0.2", USABLE), address("10.0.0.1", USABLE));
        open();
        assertThat(table()).containsExactly("", "10.0.0.2", "10.0.0.1");
        nic.onPort(view(address("10.0.0.2", USABLE), address("10.0.0.1", USABLE),
                address("10.0.0.3", USABLE)));
        assertThat(table()).containsExactly("", "10.0.0.2", "10.0.0.1", "10.0.0.3");
    }

    @Test
    void addressThatIsTriedOutGetsItsEntryWhenItIsUsable() throws Exception {
        atOpening = view(address("10.0.0.1", USABLE), address(OF_LINK, TENTATIVE));
        open();
        assertThat(table()).containsExactly("", "10.0.0.1");
        nic.onPort(atOpening);
        nic.onPort(atOpening);
        assertThat(takeEvents()).isEmpty();
        nic.onPort(view(address(OF_LINK, USABLE), address("10.0.0.1", USABLE)));
        assertThat(table()).containsExactly("fe80::1", "10.0.0.1");
        assertThat(takeEvents()).containsExactly(AsyncEventType.GID_CHANGE);
        assertThat(log.lines()).containsExactly(
                "INFO roce_lo does not serve fe80:0:0:0:0:0:0:1: it is tentative: the system still"
                        + " looks for another machine that has it",
                "INFO roce_lo serves fe80:0:0:0:0:0:0:1 now");
    }

    @Test
    void duplicateAddressIsSaidOnceAndServedOnceItIsNoneAnyMore() throws Exception {
        open();
        PortView duplicate = view(address("10.0.0.1", USABLE), address("2001:db8::1", DUPLICATE));
        nic.onPort(duplicate);
        nic.onPort(duplicate);
        assertThat(log.lines())
                .containsExactly("WARNING roce_lo does not serve 2001:db8:0:0:0:0:0:1:"
                        + " it is a duplicate: another machine of the link has it");
        nic.onPort(view(address("10.0.0.1", USABLE), address("2001:db8::1", USABLE)));
        assertThat(log.lines()).hasSize(2).last()
                .isEqualTo("INFO roce_lo serves 2001:db8:0:0:0:0:0:1 now");
        assertThat(table()).contains("2001:db8::1");
    }

    @Test
    void addressOfAnotherProcessIsSaidOnceAndTakenWhenThatHasEnded() throws Exception {
        DatagramNetwork other = network.newNode();
        other.open(InetAddress.ofLiteral("10.0.0.2"));
        open();
        PortView both = view(address("10.0.0.1", USABLE), address("10.0.0.2", USABLE));
        nic.onPort(both);
        nic.onPort(both);
        assertThat(log.lines()).singleElement().asString()
                .startsWith("WARNING roce_lo does not serve 10.0.0.2: 10.0.0.2 is taken");
        other.close();
        nic.onPort(both);
        assertThat(table()).containsExactly("", "10.0.0.1", "10.0.0.2");
        assertThat(log.lines()).hasSize(2).last().isEqualTo("INFO roce_lo serves 10.0.0.2 now");
    }

    /** Its interface was deleted, or a filter of sockets keeps this program from it. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"EPERM", "EACCES", "ENODEV", "EMFILE", "EIO"})
    void addressThatIsRefusedKeepsNoOtherFromBeingServed(Errno reason) throws Exception {
        network.refused.put(InetAddress.ofLiteral("10.0.0.1"), reason);
        atOpening = view(address("10.0.0.1", USABLE), address("10.0.0.2", USABLE));
        open();
        assertThat(table()).containsExactly("", "10.0.0.2");
        nic.onPort(atOpening);
        assertThat(log.lines()).containsExactly(
                "WARNING roce_lo does not serve 10.0.0.1: 10.0.0.1 is refused");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> nic.addresses().claim(InetAddress.ofLiteral("10.0.0.1")))
                .withMessageContaining("10.0.0.1 is refused");
        network.refused.clear();
        nic.onPort(atOpening);
        assertThat(table()).containsExactly("", "10.0.0.2", "10.0.0.1");
        assertThat(log.lines()).last().isEqualTo("INFO roce_lo serves 10.0.0.1 now");
    }

    @Test
    void deviceWhoseAddressesAreAllRefusedSaysWhyAndLogsNothing() {
        network.refused.put(InetAddress.ofLiteral("10.0.0.1"), Errno.EPERM);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::open)
                .withMessageContaining("10.0.0.1 is refused");
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void addressThatWasAskedForAndIsRefusedSaysWhy() {
        InetAddress asked = InetAddress.ofLiteral("10.0.0.1");
        network.refused.put(asked, Errno.EPERM);
        atOpening = view(address("10.0.0.1", USABLE), address("10.0.0.2", USABLE));
        SoftNic refused = new SoftNic(device(false),
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> refused.start(asked))
                .withMessageContaining("10.0.0.1 is refused");
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void addressThatIsDeprecatedStays() throws Exception {
        open();
        nic.onPort(view("10.0.0.1", DEPRECATED));
        assertThat(takeEvents()).isEmpty();
        assertThat(table()).containsExactly("", "10.0.0.1");
    }

    @Test
    void deviceWithoutAUsableAddressSaysWhy() {
        atOpening = view(address(OF_LINK, TENTATIVE), address("2001:db8::1", DUPLICATE));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(this::open)
                .withMessage("open device: roce_lo has no address that can be used;"
                        + " fe80:0:0:0:0:0:0:1 is tentative: the system still looks for another"
                        + " machine that has it; 2001:db8:0:0:0:0:0:1 is a duplicate: another"
                        + " machine of the link has it (EADDRNOTAVAIL)");
        assertThat(log.lines()).isEmpty();
    }

    // ---------------------------------------------------------------- loopback

    @Test
    void loopbackWithoutIpv6InTheProcessHasItsIpv4Address() throws Exception {
        network.refused.put(InetAddress.ofLiteral("::1"), Errno.EAFNOSUPPORT);
        atOpening = view(address("::1", USABLE), address("127.0.0.1", USABLE));
        open(true);
        assertThat(nic.gids()).contains(gid("127.0.0.1")).doesNotContain(gid("::1"));
    }

    @Test
    void loopbackWhoseIpv6AddressIsTakenGetsItWhenItIsFree() throws Exception {
        network.refused.put(InetAddress.ofLiteral("::1"), Errno.EADDRINUSE);
        atOpening = view(address("::1", USABLE), address("127.0.0.1", USABLE));
        open(true);
        nic.lookAtPort();
        assertThat(table()).containsExactly("", "127.0.0.1");
        network.refused.clear();
        nic.lookRegularly();
        assertThat(table()).containsExactly("::1", "127.0.0.1");
        assertThat(takeEvents()).containsExactly(AsyncEventType.GID_CHANGE);
    }

    /** A management port was bound to one address before the server listens everywhere. */
    @Test
    void loopbackThatWasOpenedForOneAddressTakesTheUsualOnesWhenItIsOpenedForAll()
            throws Exception {
        atOpening = view(address("::1", USABLE), address("127.0.0.1", USABLE));
        nic = new SoftNic(device(true), RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(InetAddress.ofLiteral("127.0.0.1"));
        context = SoftNic.contextOf(nic);
        nic.lookAtPort();
        assertThat(table()).containsExactly("", "127.0.0.1");
        network.refused.put(InetAddress.ofLiteral("::1"), Errno.ETIMEDOUT);
        nic.addresses().claimUsual();
        assertThat(table()).containsExactly("", "127.0.0.1");
        network.refused.clear();
        nic.lookAtPort();
        assertThat(table()).containsExactly("::1", "127.0.0.1");
        nic.addresses().claimUsual();
        assertThat(table()).containsExactly("::1", "127.0.0.1");
    }

    @Test
    void addressOfLoopbackThatCameLaterAndWasRefusedIsTriedAgain() throws Exception {
        atOpening = view("127.0.0.1", USABLE);
        open(true);
        PortView both = view(address("::1", USABLE), address("127.0.0.1", USABLE));
        network.refused.put(InetAddress.ofLiteral("::1"), Errno.ETIMEDOUT);
        nic.onPort(both);
        nic.onPort(both);
        assertThat(table()).doesNotContain("::1");
        assertThat(log.lines()).singleElement().asString()
                .contains("does not serve 0:0:0:0:0:0:0:1");
        network.refused.clear();
        nic.onPort(both);
        assertThat(table()).contains("::1");
    }

    @Test
    void closedDeviceTakesNoAddress() throws Exception {
        atOpening = view("10.0.0.1", USABLE);
        open();
        nic.addresses().end();
        nic.onPort(view(address("10.0.0.1", USABLE), address("10.0.0.2", USABLE)));
        assertThat(table()).containsExactly("", "10.0.0.1");
    }

    @Test
    void loopbackWithoutIpv4HasItsIpv6AddressAndGetsTheOther() throws Exception {
        atOpening = view("::1", USABLE);
        open(true);
        assertThat(table()).containsExactly("::1");
        nic.onPort(view(address("::1", USABLE), address("127.0.0.1", USABLE)));
        assertThat(table()).containsExactly("::1", "127.0.0.1");
        assertThat(takeEvents()).containsExactly(AsyncEventType.GID_CHANGE);
    }

    @Test
    void loopbackThatLosesAnAddressTellsSoAndGetsItBack() throws Exception {
        PortView both = view(address("::1", USABLE), address("127.0.0.1", USABLE));
        atOpening = both;
        open(true);
        nic.onPort(view("::1", USABLE));
        assertThat(table()).containsExactly("::1", "");
        nic.onPort(view("127.0.0.1", USABLE));
        assertThat(table()).containsExactly("", "127.0.0.1");
        nic.onPort(both);
        assertThat(table()).containsExactly("::1", "127.0.0.1");
        assertThat(told).containsExactly("lost 127.0.0.1", "lost 0:0:0:0:0:0:0:1");
    }

    @Test
    void furtherIpv6AddressOfLoopbackTakesNoOthersPlace() throws Exception {
        atOpening = view(address("::1", USABLE), address("2001:db8::1", USABLE),
                address("127.0.0.1", USABLE));
        open(true);
        assertThat(table()).containsExactly("::1", "127.0.0.1",
                "2001:db8::1");
    }

    // ---------------------------------------------------------------- in every order

    /** An interface and its addresses. */
    private static final class Modelled {
        final HostAddress.State[] states = new HostAddress.State[ADDRESSES.size()];
        final List<String> order = new ArrayList<>();
        boolean isUp = true;

        PortView view() {
            List<HostAddress> present = new ArrayList<>();
            order.forEach(each -> present.add(address(each, states[ADDRESSES.indexOf(each)])));
            return FollowedInterfaceTest.view(isUp, present);
        }

        void change(Random random) {
            int changed = random.nextInt(states.length + 1);
            if (changed == states.length) {
                isUp = !isUp;
                return;
            }
            String address = ADDRESSES.get(changed);
            order.remove(address);
            HostAddress.State[] all = HostAddress.State.values();
            int next = random.nextInt(all.length + 1);
            states[changed] = next == all.length ? null : all[next];
            if (states[changed] != null) {
                order.add(address);
            }
        }

        Set<Gid> usable() {
            Set<Gid> usable = new HashSet<>();
            view().addresses().forEach(each -> usable.add(Gid.of(each)));
            return usable;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void whateverChangesInWhateverOrderTheTableHasWhatCanBeUsed(int seed) throws Exception {
        Random random = new Random(seed);
        Modelled model = new Modelled();
        model.states[1] = USABLE;
        model.order.add(ADDRESSES.get(1));
        open();
        for (int step = 0; step < 300; step++) {
            List<Gid> before = List.copyOf(nic.gids());
            boolean wasUp = model.isUp;
            model.change(random);
            told.clear();
            nic.onPort(model.view());
            assertThat(present()).as("seed %s, step %s", seed, step).isEqualTo(model.usable());
            assertEntriesStay(before);
            assertTold(before, wasUp, model.isUp);
            nic.onPort(model.view());
            assertThat(takeEvents()).as("a look without a change").isEmpty();
        }
        told.clear();
        nic.onPort(new PortView(false, false, List.of()));
        assertThat(told).containsExactly("gone");
        assertThat(present()).isEmpty();
        // The interface is made again, and a device opened on it.
        open();
        assertThat(present()).containsExactly(gid("10.0.0.1"));
    }

    private Set<Gid> present() {
        Set<Gid> present = new HashSet<>(nic.gids());
        present.remove(Gid.ZERO);
        return present;
    }

    private void assertEntriesStay(List<Gid> before) {
        for (int i = 0; i < before.size(); i++) {
            Gid gid = before.get(i);
            if (!gid.isZero() && nic.gids().contains(gid)) {
                assertThat(nic.gids().get(i)).isEqualTo(gid);
            }
        }
        Gid first = nic.gids().getFirst();
        assertThat(first.isZero() || first.equals(gid(OF_LINK))).isTrue();
    }

    private void assertTold(List<Gid> before, boolean wasUp, boolean isUp) throws RdmaException {
        List<AsyncEventType> expected = new ArrayList<>();
        if (wasUp != isUp) {
            expected.add(isUp ? AsyncEventType.PORT_ACTIVE : AsyncEventType.PORT_ERROR);
        }
        if (!before.equals(nic.gids())) {
            expected.add(AsyncEventType.GID_CHANGE);
        }
        assertThat(takeEvents()).isEqualTo(expected);
        List<String> lost = new ArrayList<>();
        for (Gid each : before) {
            if (!each.isZero() && !nic.gids().contains(each)) {
                lost.add("lost "
                        + AddressScope.on(each.address(), nic.device().index()).getHostAddress());
            }
        }
        assertThat(told).isEqualTo(lost);
    }
}
