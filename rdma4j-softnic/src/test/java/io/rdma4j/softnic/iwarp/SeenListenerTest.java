// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

import static org.assertj.core.api.Assertions.assertThat;

/** What iWARP sees of a listener before it asks for a connection. */
class SeenListenerTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");

    private static boolean isSeen(PortSpace space, InetSocketAddress destination) {
        return IwarpFamily.IWARP.seesListener(space, HERE, destination);
    }

    @Test
    void programThatAcceptsConnectionsIsSeenUntilItEnds() throws Exception {
        InetSocketAddress at;
        try (ServerSocket listener = new ServerSocket(0, 1, HERE)) {
            at = new InetSocketAddress(HERE, listener.getLocalPort());
            assertThat(isSeen(PortSpace.TCP, at)).isTrue();
            assertThat(isSeen(PortSpace.UDP, at)).isFalse();
            assertThat(isSeen(PortSpace.IB, at)).isFalse();
        }
        assertThat(isSeen(PortSpace.TCP, at)).isFalse();
    }

    @Test
    void destinationOfAnotherIpVersionThanTheSourceIsNotSeen() throws Exception {
        assertThat(isSeen(PortSpace.TCP, new InetSocketAddress("2001:db8::1", 7174))).isFalse();
    }
}
