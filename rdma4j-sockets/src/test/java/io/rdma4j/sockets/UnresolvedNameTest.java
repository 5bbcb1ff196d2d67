// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Names to which plain sockets connect that go by rules. */
class UnresolvedNameTest {
    @ParameterizedTest
    @EnumSource(names = {"RULED_RDMA", "RULED_TCP", "RULED_AUTO"})
    void nameThatNobodyKnowsIsSaid(Transport transport) throws IOException {
        try (Socket socket = SocketKind.ALONE.open(transport)) {
            assertThatThrownBy(() -> socket
                    .connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1), 10_000))
                    .isInstanceOf(UnknownHostException.class);
        }
    }

    /** As hosts of containers are called, though it is no name of the DNS. */
    @Test
    void nameMayHaveAnUnderscore() throws IOException {
        try (ServerSocket listener = SocketKind.ALONE.listen(Transport.RULED_TCP);
                Socket socket = SocketKind.ALONE.open(Transport.RULED_TCP)) {
            InetAddress named = InetAddress.getByAddress("project_db_1",
                    InetAddress.getLoopbackAddress().getAddress());
            socket.connect(new InetSocketAddress(named, listener.getLocalPort()), 10_000);
            assertThat(socket.isConnected()).isTrue();
        }
    }
}
