// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.testkit.LogLines;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Random;
import java.util.logging.Level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What the log says of the address of a loopback device. */
class AddressNewsTest {

    @RegisterExtension
    final LogLines log = LogLines.of(NicAddresses.class);
    private final SimulatedNetwork network = new SimulatedNetwork(1);
    private final DatagramNetwork other = network.newNode();

    private void openLoopback() throws Exception {
        openLoopback(network.newNode());
    }

    private void openLoopback(DatagramNetwork node) throws Exception {
        SoftDevice loopback = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                () -> new PortView(true, true, List.of(InetAddress.ofLiteral("127.0.0.1"))));
        SoftNic nic = new SoftNic(loopback,
                RoceTransport.on(node, "start Java with --some-flag",
                        CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(null);
    }

    @Test
    void anotherAddressThanTheFirstIsToldWithWhatToDoAboutIt() throws Exception {
        other.open(InetAddress.ofLiteral("127.0.0.1"));
        openLoopback();
        assertThat(log.lines()).singleElement().asString()
                .startsWith(Level.INFO + " roce_lo is at 127.0.0.2: 127.0.0.1 is taken by ")
                .endsWith("; this process cannot: start Java with --some-flag")
                .doesNotContain("\n");
    }

    /** As on macOS, whose loopback interface has the first address alone. */
    @Test
    void aSystemWithoutASecondAddressIsToldHowToGetOne() throws Exception {
        other.open(InetAddress.ofLiteral("127.0.0.1"));
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> openLoopback(new OneLoopback(network.newNode())))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE))
                .withMessageContaining("127.0.0.1 is taken by ")
                .withMessageContaining("ifconfig lo0 alias 127.0.0.2")
                .withMessageNotContaining("\n");
    }

    @Test
    void theFirstAddressIsNoNews() throws Exception {
        openLoopback();
        assertThat(log.lines()).isEmpty();
    }
}
