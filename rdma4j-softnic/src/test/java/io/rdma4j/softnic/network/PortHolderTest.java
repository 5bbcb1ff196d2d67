package io.rdma4j.softnic.network;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;

import static org.assertj.core.api.Assertions.assertThat;

/** Sockets are found however they are bound. */
@EnabledOnOs(OS.LINUX)
class PortHolderTest {
    @ParameterizedTest
    @CsvSource({"INET, 127.0.0.1, 127.0.0.1, 1", "INET, 0.0.0.0, 127.0.0.1, 1",
        "INET, 127.0.0.1, 127.0.0.2, 0", "INET6, 127.0.0.1, 127.0.0.1, 1", "INET6, ::, ::1, 1",
        "INET6, ::, 127.0.0.1, 1", "INET6, ::1, ::1, 1", "INET6, ::1, 127.0.0.1, 0"})
    void socketsOfAnAddressAreCounted(StandardProtocolFamily family, String bound, String asked,
            int count) throws Exception {
        try (DatagramChannel socket = DatagramChannel.open(family)) {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(bound), 0));
            int port = ((InetSocketAddress) socket.getLocalAddress()).getPort();
            InetAddress address = InetAddress.ofLiteral(asked);
            assertThat(PortHolder.count(address, port)).isEqualTo(count);
            assertThat(PortHolder.of(address, port)).contains(
                    count == 0 ? "another process" : "this process, which has a socket");
        }
    }
}
