// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ServerSocketChannel;

import static org.assertj.core.api.Assertions.assertThat;

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
}
