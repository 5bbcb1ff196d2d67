// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** Sockets are found however they are bound. */
@EnabledOnOs(OS.LINUX)
class PortHolderTest {
    @ParameterizedTest
    @CsvSource({"INET, 127.0.0.1, 127.0.0.1, 1", "INET, 0.0.0.0, 127.0.0.1, 1",
        "INET, 127.0.0.1, 127.0.0.2, 0", "INET6, 127.0.0.1, 127.0.0.1, 1", "INET6, ::, ::1, 1",
        "INET, 0.0.0.0, 0.0.0.0, 1", "INET, 127.0.0.1, 0.0.0.0, 0", "INET6, ::, 0.0.0.0, 1",
        "INET6, ::, 127.0.0.1, 1", "INET6, ::1, ::1, 1", "INET6, ::1, 127.0.0.1, 0"})
    void socketsOfAnAddressAreCounted(StandardProtocolFamily family, String bound, String asked,
            int count) throws Exception {
        try (DatagramChannel socket = DatagramChannel.open(family)) {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(bound), 0));
            int port = ((InetSocketAddress) socket.getLocalAddress()).getPort();
            InetAddress address = InetAddress.ofLiteral(asked);
            assertThat(PortHolder.count(address, port)).isEqualTo(count);
            assertThat(PortHolder.of(address, port, "")).contains(
                    count == 0 ? "another process" : "this process, which has a socket");
        }
    }

    @ParameterizedTest
    @CsvSource({"00000000, 0, rdma_rxe, the kernel's RoCE driver rdma_rxe (use its devices",
        "00000000, 0, mlx5_ib, another process", "00000000, 1000, rdma_rxe, a process of user 1000",
        "0100007F, 0, rdma_rxe, a process of user 0"})
    void kernelsRoceDriverIsNamedIfItMayBeTheHolder(String bound, int user, String module,
            String words, @TempDir Path proc) throws Exception {
        Files.writeString(proc.resolve("modules"), module + " 163840 0 - Live 0x0\n");
        Files.createDirectory(proc.resolve("net"));
        Files.writeString(proc.resolve("net/udp"),
                String.format(
                        """
                                  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
                                  12: %s:12B7 00000000:0000 07 00000000:00000000 00:00000000 00000000 %5d        0 8 2
                                """,
                        bound, user));
        assertThat(PortHolder.of(proc, InetAddress.ofLiteral("127.0.0.1"), 4791, ", of a user"))
                .startsWith(words)
                .matches(text -> text.endsWith(", of a user") != text.contains("(use its"));
    }
}
