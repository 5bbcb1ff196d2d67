// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

class PathProbeTest {
    private static final Gid OWN = Gid.of(InetAddress.ofLiteral("127.0.0.1"));

    @BeforeEach
    void requireLinux() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
    }

    @Test
    void packetsWithinTheMachineMayBeAsLongAsItsLoopbackAllows() throws Exception {
        NetworkInterface loopback = NetworkInterface
                .getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
        assertThat(PathProbe.longestPacket(OWN, Gid.of(InetAddress.ofLiteral("127.0.0.2")),
                loopback.getIndex()))
                .as("an IP packet has at most 65,535 bytes")
                .isEqualTo(Math.min(loopback.getMTU(), 65_535));
    }

    @Test
    void pathWithoutARouteIsNotKnown() {
        assertThat(PathProbe.longestPacket(OWN, Gid.of(InetAddress.ofLiteral("192.0.2.1")), 1))
                .isEqualTo(PathProbe.UNKNOWN);
        assertThat(PathProbe.longestPacket(Gid.of(InetAddress.ofLiteral("192.0.2.1")), OWN, 1))
                .as("from an address that is not of this machine").isEqualTo(PathProbe.UNKNOWN);
    }
}
