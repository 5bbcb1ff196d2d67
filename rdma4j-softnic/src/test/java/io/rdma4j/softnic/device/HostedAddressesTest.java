// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.AddressScope;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Which addresses a device takes for its own, and how it names them. */
class HostedAddressesTest {
    private static final InetAddress LINK_LOCAL = InetAddress.ofLiteral("fe80::1");

    private final NetworkInterface loopback = loopback();
    private final int index = loopback.getIndex();

    private static NetworkInterface loopback() {
        try {
            return NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        } catch (java.net.SocketException e) {
            throw new AssertionError(e);
        }
    }

    private SoftDevice device(boolean isLoopback, InetAddress... addresses) {
        return new SoftDevice(RoceFamily.ROCE, loopback, isLoopback,
                () -> new PortView(true, true, List.of(addresses)));
    }

    @Test
    void linkLocalAddressOfAnotherInterfaceIsNotOfTheDevice() {
        SoftDevice device = device(false, AddressScope.on(LINK_LOCAL, index));
        assertThat(device.deviceInterface().hostsNow(AddressScope.on(LINK_LOCAL, index))).isTrue();
        assertThat(device.deviceInterface().hostsNow(LINK_LOCAL))
                .as("of no interface in particular").isTrue();
        assertThat(device.deviceInterface().hostsNow(AddressScope.on(LINK_LOCAL, index + 1)))
                .isFalse();
        assertThat(device(false, LINK_LOCAL).deviceInterface()
                .hostsNow(AddressScope.on(LINK_LOCAL, index + 1)))
                .as("listed without its interface").isFalse();
    }

    @Test
    void loopbackHasAllOfItsNetworkExceptTheBroadcastAddress() {
        SoftDevice device = device(true, InetAddress.ofLiteral("127.0.0.1"));
        assertThat(device.deviceInterface().hostsNow(InetAddress.ofLiteral("127.3.2.1"))).isTrue();
        assertThat(device.deviceInterface().hostsNow(InetAddress.ofLiteral("127.255.255.255")))
                .isFalse();
    }

    @Test
    void linkLocalAddressesAreNamedWithTheirInterface() throws Exception {
        SimulatedNetwork network = new SimulatedNetwork(1);
        SoftNic nic = new SoftNic(device(false, LINK_LOCAL),
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(null);
        try (SoftDeviceContext context = SoftNic.contextOf(nic)) {
            assertThat(context.addresses()).singleElement()
                    .satisfies(each -> assertThat(AddressScope.of(each)).isEqualTo(index));
        }
    }
}
