// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What rules make of datagrams. */
@Timeout(60)
class RuledDatagramTest {
    private static final String MIXED = "datagrams:127.0.0.1=rdma,tcp";

    private static DatagramChannel open(SelectorProvider by) throws IOException {
        DatagramChannel made = by.openDatagramChannel(StandardProtocolFamily.INET);
        return made instanceof RuledDatagramChannel
                ? made.setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                : made;
    }

    private static DatagramChannel bound(String rules) throws IOException {
        return open(new RuledSelectorProvider(rules)).bind(Transport.loopback(0));
    }

    private static boolean isOverRdma(DatagramChannel channel) {
        return channel instanceof RuledDatagramChannel ruled
                && ruled.chosen() instanceof RdmaDatagramChannel;
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"rdma; false", "tcp; false", "auto; false",
        "datagrams:udp,rdma; false", "datagrams:rdma,tcp; true",
        "datagrams:127.0.0.1=rdma,tcp; true",
        "datagrams:127.0.0.2=rdma,rdma; false", "datagrams:*:1=udp,datagrams:*=rdma,tcp; true"})
    void addressThatIsBoundToDecides(String rules, boolean isOverRdma) throws IOException {
        try (DatagramChannel server = bound(rules); DatagramChannel client = bound(rules)) {
            assertThat(isOverRdma(server)).isEqualTo(isOverRdma);
            client.connect(server.getLocalAddress());
            ByteBuffer got = ByteBuffer.allocate(99);
            for (int i = 0; i < 3; i++) {
                assertThat(client.write(ByteBuffer.allocate(5 + i))).isEqualTo(5 + i);
                SocketAddress from = server.receive(got.clear());
                assertThat(from).isEqualTo(client.getLocalAddress());
                assertThat(got.position()).isEqualTo(5 + i);
                server.send(got.flip(), from);
                assertThat(client.read(got.clear())).isEqualTo(5 + i);
            }
        }
    }

    @Test
    void withoutRulesForThemDatagramsHaveTheChannelsOfTheJdk() throws IOException {
        for (String rules : new String[]{"", "rdma", "auto", "datagrams:udp,rdma"}) {
            try (DatagramChannel channel = new RuledSelectorProvider(rules)
                    .openDatagramChannel()) {
                assertThat(channel.getClass().getName()).startsWith("sun.nio.ch.");
            }
        }
    }

    @Test
    void peerDecidesOfAChannelThatIsNotBound() throws IOException {
        SelectorProvider provider = new RuledSelectorProvider(MIXED);
        try (DatagramChannel overRdma = bound(MIXED);
                DatagramSocket overUdp = new DatagramSocket(
                        new InetSocketAddress("127.0.0.2", 0));
                DatagramChannel one = open(provider);
                DatagramChannel other = open(provider)) {
            assertThat(one.getLocalAddress()).isNull();
            assertThat(one.isConnected()).isFalse();
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(() -> one.write(ByteBuffer.allocate(1)));
            one.send(ByteBuffer.allocate(4), overRdma.getLocalAddress());
            assertThat(isOverRdma(one)).isTrue();
            assertThat(overRdma.receive(ByteBuffer.allocate(9))).isNotNull();
            other.send(ByteBuffer.allocate(4), overUdp.getLocalSocketAddress());
            assertThat(isOverRdma(other)).isFalse();
            DatagramPacket got = new DatagramPacket(new byte[9], 9);
            overUdp.receive(got);
            assertThat(got.getLength()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {MIXED + "; true", "datagrams:127.0.0.2=rdma,tcp; false"})
    void selectorsAndSocketsSeeTheChannelBehind(String rules, boolean isOverRdma)
            throws IOException {
        SelectorProvider provider = new RuledSelectorProvider(rules);
        try (DatagramChannel server = open(provider);
                DatagramChannel client = open(provider);
                Selector selector = provider.openSelector()) {
            server.configureBlocking(false);
            SelectionKey key = server.register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();
            server.bind(Transport.loopback(0));
            DatagramSocket socket = client.socket();
            socket.bind(Transport.loopback(0));
            assertThat(isOverRdma(client)).isEqualTo(isOverRdma);
            assertThat(socket.getLocalSocketAddress()).isEqualTo(client.getLocalAddress());
            ByteBuffer got = ByteBuffer.allocate(99);
            for (int i = 0; i < 3; i++) {
                socket.send(new DatagramPacket(new byte[6], 6,
                        Objects.requireNonNull(server.getLocalAddress())));
                assertThat(selector.select()).isOne();
                assertThat(key.isReadable()).isTrue();
                selector.selectedKeys().clear();
                SocketAddress from = server.receive(got.clear());
                assertThat(from).isEqualTo(socket.getLocalSocketAddress());
                assertThat(selector.selectNow()).isZero();
                server.send(got.flip(), from);
                socket.setSoTimeout(i * 30_000);
                DatagramPacket answer = new DatagramPacket(new byte[20], 5, 15);
                socket.receive(answer);
                assertThat(answer.getLength()).isEqualTo(6);
                assertThat(answer.getSocketAddress()).isEqualTo(server.getLocalAddress());
            }
            key.cancel();
            server.configureBlocking(true);
            socket.connect(server.getLocalAddress());
            assertThat(socket.isConnected()).isTrue();
            socket.send(new DatagramPacket(new byte[2], 2));
            assertThat(server.receive(got.clear())).isEqualTo(socket.getLocalSocketAddress());
        }
    }

    @Test
    void optionsThatWereSetBeforeCount() throws IOException {
        try (DatagramChannel channel = open(new RuledSelectorProvider(MIXED))) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 15);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(1 << 15);
            channel.bind(Transport.loopback(0));
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(1 << 15);
            assertThat(channel.supportedOptions()).contains(RdmaSocketOptions.RDMA_DEVICE);
        }
    }

    @Test
    void groupsAreOfUdp() throws IOException {
        InetSocketAddress group = new InetSocketAddress("224.0.0.251", 9);
        NetworkInterface loopback = NetworkInterface.getByInetAddress(
                Transport.loopback(0).getAddress());
        try (DatagramChannel channel = open(new RuledSelectorProvider(MIXED));
                DatagramChannel overRdma = bound(MIXED)) {
            channel.join(group.getAddress(), loopback).drop();
            assertThat(isOverRdma(channel)).isFalse();
            assertThat(channel.supportedOptions())
                    .contains(StandardSocketOptions.IP_MULTICAST_TTL);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> overRdma.socket().joinGroup(group, loopback))
                    .withMessage("datagrams of rsockets have no groups: use CmId.joinMulticast");
        }
    }

    @Test
    void closedChannelIsClosedBehind() throws IOException {
        DatagramChannel channel = bound(MIXED);
        DatagramChannel behind = Objects.requireNonNull(((RuledDatagramChannel) channel).chosen());
        channel.close();
        assertThat(behind.isOpen()).isFalse();
        DatagramChannel undecided = open(new RuledSelectorProvider(MIXED));
        undecided.close();
        assertThatExceptionOfType(ClosedChannelException.class)
                .isThrownBy(() -> undecided.bind(null));
    }
}
