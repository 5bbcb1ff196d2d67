// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** All of 127.0.0.0/8 is this host, which is often named by 127.0.1.1, and a device of loopback is at its first address. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class LoopbackAddressTest {
    private static final InetAddress OF_HOST = InetAddress.ofLiteral("127.0.1.1");

    @ParameterizedTest
    @EnumSource
    void listenerOfAllAddressesIsReachedByEach(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.openListener()
                .bind(new InetSocketAddress(0));
                SocketChannel client = transport.open()) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            assertThat(client.connect(new InetSocketAddress(OF_HOST, port))).isTrue();
            try (SocketChannel accepted = listener.accept()) {
                assertThat(client.write(ByteBuffer.allocate(100))).isEqualTo(100);
                assertThat(accepted.read(ByteBuffer.allocate(1))).isOne();
                assertThat(client.getRemoteAddress()).isEqualTo(accepted.getLocalAddress());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "TCP", mode = Mode.EXCLUDE)
    void addressAtWhichNobodyListensIsRefused(Transport transport) throws Exception {
        InetSocketAddress nobody = new InetSocketAddress(OF_HOST,
                transport.unusedAddress().getPort());
        try (SocketChannel client = transport.open()) {
            assertThatThrownBy(() -> client.connect(nobody)).isInstanceOf(ConnectException.class)
                    .hasMessageStartingWith("Connection refused");
        }
    }
}
