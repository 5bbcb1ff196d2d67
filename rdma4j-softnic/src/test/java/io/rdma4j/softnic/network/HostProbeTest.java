// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

import static org.assertj.core.api.Assertions.assertThat;

/** What says that no host is at an address. A link where nobody answers is tried by interop/hosts. */
class HostProbeTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");

    @Test
    void hostThatRefusesIsThere() {
        assertThat(HostProbe.begin(HERE, InetAddress.ofLiteral("127.45.67.98")).findsNobody())
                .isFalse();
    }

    @Test
    void hostThatAcceptsIsThere() throws Exception {
        InetAddress other = InetAddress.ofLiteral("127.45.67.97");
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(other, 4791));
            HostProbe probe = HostProbe.begin(HERE, other);
            server.accept().close();
            assertThat(probe.findsNobody()).isFalse();
            probe.close();
        }
    }

    @Test
    void whatCannotBeTriedSaysNothing() {
        HostProbe probe = HostProbe.begin(InetAddress.ofLiteral("192.0.2.77"),
                InetAddress.ofLiteral("192.0.2.78"));
        assertThat(probe.findsNobody()).isFalse();
        probe.close();
    }

    /** Many firewalls answer TCP at once that the host is prohibited, and let UDP through. */
    @Test
    void firewallThatRefusesTcpIsNoMissingHost() {
        assertThat(HostProbe.isOfSearch(300_000_000)).isFalse();
        assertThat(HostProbe.isOfSearch(3_000_000_000L)).isTrue();
    }
}
