// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The system's TCP ports, beside programs that know nothing of RDMA. */
class TcpPortsTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

    private static PortReservation reserve(InetSocketAddress address) throws RdmaException {
        return TcpPorts.OF_SYSTEM.reserve(PortSpace.TCP, address, false);
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** At one address and at the wildcard. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0"})
    void portThatSomebodyListensAtIsRefused(String address) throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, ADDRESS)) {
            InetSocketAddress wanted = new InetSocketAddress(address, other.getLocalPort());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> reserve(wanted))
                    .withMessageContaining(Integer.toString(other.getLocalPort()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        }
    }

    @Test
    void portThatIsHeldIsNotAnothersUntilItIsReleased() throws Exception {
        InetSocketAddress address = new InetSocketAddress(ADDRESS, freePort());
        PortReservation held = reserve(address);
        try (ServerSocket other = new ServerSocket()) {
            other.setReuseAddress(false);
            assertThatExceptionOfType(BindException.class).isThrownBy(() -> other.bind(address));
            held.release();
            held.release();
            other.bind(address);
        }
    }

    @Test
    void portThatIsHeldCanBeListenedAtAndConnectedFrom() throws Exception {
        InetSocketAddress from = new InetSocketAddress(ADDRESS, freePort());
        PortReservation ofClient = reserve(from);
        PortableStreams network = new PortableStreams();
        try (ServerSocket server = new ServerSocket(0, 1, ADDRESS)) {
            Stream stream = network.connect(from,
                    (InetSocketAddress) server.getLocalSocketAddress());
            try (Socket accepted = server.accept()) {
                assertThat(accepted.getPort()).isEqualTo(from.getPort());
            }
            stream.close();
            int port = freePort();
            PortReservation wildcard = reserve(new InetSocketAddress("0.0.0.0", port));
            network.listen(new InetSocketAddress(ADDRESS, port), 1, accepted -> {}).close();
            wildcard.release();
        } finally {
            network.close();
            ofClient.release();
        }
    }

    @Test
    void otherPortSpacesAreNotTcps() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, ADDRESS)) {
            InetSocketAddress taken = new InetSocketAddress(ADDRESS, other.getLocalPort());
            for (PortSpace space : new PortSpace[]{PortSpace.UDP, PortSpace.IB}) {
                TcpPorts.OF_SYSTEM.reserve(space, taken, false).release();
            }
        }
    }
}
