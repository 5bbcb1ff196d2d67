// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.StandardProtocolFamily;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** A listener at the wildcard address, which listens at each that its device has. */
class IwarpListenerTest extends IwarpStage {
    private static final InetAddress IPV6 = InetAddress.ofLiteral("::1");

    IwarpListenerTest() throws Exception {}

    private int listenEverywhere(@Nullable StandardProtocolFamily family) throws Exception {
        int port = freePort();
        listener = context.listen(new ListenRequest(PortSpace.TCP, QueuePairType.RC, port, null,
                null, family, BACKLOG, null), (via, request, local, peer, parameters) -> {
                    server.connection = request;
                    server.heard.add("request at " + local.getAddress().getHostAddress());
                    return server;
                });
        return port;
    }

    private static void requireIpv6() throws Exception {
        assumeThat(NetworkInterface.getByInetAddress(IPV6)).as("an interface with ::1").isNotNull();
    }

    private void isHeard(InetAddress at, int port) throws Exception {
        try (Socket initiator = new Socket(at, port)) {
            initiator.getOutputStream().write(REVISION_ONE.bytes());
            server.awaitWord("request at " + at.getHostAddress());
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("established");
        }
    }

    @Test
    void anAddressThatTheDeviceHasIsHeard() throws Exception {
        isHeard(ADDRESS, listenEverywhere(null));
    }

    /** As when the interface gets one. */
    @Test
    void anAddressThatTheDeviceGetsIsHeard() throws Exception {
        requireIpv6();
        int port = listenEverywhere(null);
        try (SoftDeviceContext more = new SoftDevice(IwarpFamily.IWARP,
                NetworkInterface.getByInetAddress(ADDRESS)).open(IPV6)) {
            assertThat(more.device().name()).isEqualTo(context.device().name());
            isHeard(IPV6, port);
        }
    }

    @Test
    void oneIpVersionIsHeardIfThatIsWanted() throws Exception {
        requireIpv6();
        int port = listenEverywhere(StandardProtocolFamily.INET);
        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() -> new Socket(IPV6, port).close());
        try (Socket initiator = new Socket(ADDRESS, port)) {
            assertThat(initiator.isConnected()).isTrue();
        }
    }
}
