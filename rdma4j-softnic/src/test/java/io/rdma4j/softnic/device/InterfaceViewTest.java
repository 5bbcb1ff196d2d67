// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.Host;
import io.rdma4j.softnic.host.HostAddress;
import io.rdma4j.softnic.host.HostInterface;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

import static io.rdma4j.softnic.host.HostAddress.State.DEPRECATED;
import static io.rdma4j.softnic.host.HostAddress.State.DUPLICATE;
import static io.rdma4j.softnic.host.HostAddress.State.TENTATIVE;
import static io.rdma4j.softnic.host.HostAddress.State.USABLE;
import static org.assertj.core.api.Assertions.assertThat;

class InterfaceViewTest {
    private static final PortView GONE = new PortView(false, false, List.of());

    private final NetworkInterface loopback = loopback();
    private Host present = hostWith(loopback.getIndex());
    private boolean isUnknown;
    private final InterfaceView view = new InterfaceView(loopback, this::now);

    private static NetworkInterface loopback() {
        try {
            return NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        } catch (SocketException e) {
            throw new AssertionError(e);
        }
    }

    private Host hostWith(int index, HostAddress... addresses) {
        return new Host(List.of(new HostInterface(loopback.getName(), index, true, true, true,
                65_536, List.of(addresses))));
    }

    private Host now() throws IOException {
        if (isUnknown) {
            throw new SocketException("Too many open files");
        }
        return present;
    }

    private static HostAddress address(String literal, HostAddress.State state) {
        return new HostAddress(InetAddress.ofLiteral(literal), state);
    }

    @Test
    void addressesStandInTheOrderOfTheTableAndThenInThatOfTheirArrival() {
        present = hostWith(loopback.getIndex(), address("2001:db8::2", USABLE),
                address("10.0.0.2", USABLE), address("2001:db8::1", DEPRECATED),
                address("10.0.0.1", USABLE), address("fe80::1", USABLE));
        assertThat(view.get().addresses()).extracting(InetAddress::getHostAddress)
                .containsExactly("fe80:0:0:0:0:0:0:1", "10.0.0.2", "10.0.0.1",
                        "2001:db8:0:0:0:0:0:2", "2001:db8:0:0:0:0:0:1");
    }

    @Test
    void addressesThatCannotBeUsedStandApart() {
        HostAddress tentative = address("2001:db8::1", TENTATIVE);
        HostAddress duplicate = address("2001:db8::2", DUPLICATE);
        present = hostWith(loopback.getIndex(), tentative, address("10.0.0.1", USABLE), duplicate);
        assertThat(view.get().addresses()).containsExactly(InetAddress.ofLiteral("10.0.0.1"));
        assertThat(view.get().unusable()).containsExactly(tentative, duplicate);
    }

    @Test
    void interfaceWithoutCarrierIsDown() {
        present = new Host(List.of(new HostInterface(loopback.getName(), loopback.getIndex(), true,
                false, true, 65_536, List.of())));
        assertThat(view.get()).isEqualTo(new PortView(true, false, List.of()));
    }

    @Test
    void interfaceThatCannotBeAskedForLooksAsBefore() {
        isUnknown = true;
        assertThat(view.get()).as("as it was listed").extracting(PortView::isPresent)
                .isEqualTo(true);
        isUnknown = false;
        present = new Host(List.of());
        assertThat(view.get().isPresent()).isFalse();
        isUnknown = true;
        assertThat(view.get().isPresent()).as("as it was last").isFalse();
    }

    @Test
    void interfaceThatIsGoneHasNoAddresses() {
        present = new Host(List.of());
        assertThat(view.get()).isEqualTo(GONE);
    }

    /** It was deleted and made again. */
    @Test
    void anotherInterfaceOfTheNameIsNotTheOne() {
        present = hostWith(loopback.getIndex() + 1, address("10.0.0.1", USABLE));
        assertThat(view.get()).isEqualTo(GONE);
    }
}
