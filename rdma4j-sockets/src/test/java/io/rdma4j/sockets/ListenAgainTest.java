// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What was closed holds its port no longer: a server that begins anew gets it at once. */
class ListenAgainTest {
    private static final int TIMES = 100;

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_AUTO"})
    void aChannelGetsThePortOfTheOneBefore(Transport transport) throws Exception {
        InetSocketAddress address = transport.unusedAddress();
        for (int i = 0; i < TIMES; i++) {
            try (ServerSocketChannel listener = transport.openListener()) {
                assertThat(listener.bind(address).getLocalAddress()).isEqualTo(address);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, ROCE", "ALONE, ROCE", "ALONE, RULED_TCP", "ALONE, RULED_AUTO"})
    void aSocketGetsThePortOfTheOneBefore(SocketKind kind, Transport transport)
            throws Exception {
        InetSocketAddress address = transport.unusedAddress();
        for (int i = 0; i < TIMES; i++) {
            try (ServerSocket listener = kind.openListener(transport)) {
                listener.bind(address);
                assertThat(listener.getLocalSocketAddress()).isEqualTo(address);
            }
        }
    }

    /** As the JDK's: what could not be bound can be bound elsewhere. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "RULED_RDMA", "RULED_TCP", "RULED_AUTO", "RULED_FALLBACK"})
    void aSocketCanBeBoundAfterAFailure(Transport transport) throws Exception {
        try (ServerSocket taken = SocketKind.ALONE.listen(transport);
                ServerSocket second = SocketKind.ALONE.openListener(transport);
                Socket client = SocketKind.ALONE.open(transport)) {
            assertThatThrownBy(() -> second.bind(taken.getLocalSocketAddress()))
                    .isInstanceOf(IOException.class);
            second.bind(Transport.loopback(0));
            assertThatThrownBy(() -> client.bind(taken.getLocalSocketAddress()))
                    .isInstanceOf(IOException.class);
            client.bind(Transport.loopback(0));
            client.connect(second.getLocalSocketAddress(), 10_000);
            assertThat(client.isConnected()).isTrue();
        }
    }
}
