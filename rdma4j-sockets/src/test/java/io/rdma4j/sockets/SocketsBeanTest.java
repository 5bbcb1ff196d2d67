// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.observe.jmx.DatagramSocketData;
import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.observe.jmx.SocketListenerData;
import io.rdma4j.sockets.observe.jmx.SocketsMXBean;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;

import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/** What JMX shows of sockets. Those of other tests, whose last answers leave, are there as well. */
class SocketsBeanTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private static SocketsMXBean bean() throws Exception {
        ObjectName name = new ObjectName("io.rdma4j:type=Sockets");
        Wait.until("the bean is there", () -> SERVER.isRegistered(name));
        return JMX.newMXBeanProxy(SERVER, name, SocketsMXBean.class);
    }

    private static int port(SocketChannel channel) throws Exception {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    /** {@return the end of a connection that belongs to a channel} */
    private static SocketConnectionData end(SocketChannel channel) throws Exception {
        int local = port(channel);
        int peer = ((InetSocketAddress) channel.getRemoteAddress()).getPort();
        return bean().getConnections().stream()
                .filter(each -> each.localPort() == local && each.peerPort() == peer)
                .findFirst().orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void connectionHasBothEndsWithTheirBytesAndCredits(Transport transport) throws Exception {
        try (Connected connected = Connected.over(transport)) {
            connected.channel().write(ByteBuffer.allocate(1000));
            connected.peer().read(ByteBuffer.allocate(300));
            SocketConnectionData from = end(connected.channel());
            assertThat(from.device()).isEqualTo(transport.device());
            assertThat(from.side() + " " + from.state()).isEqualTo("connect ESTABLISHED");
            assertThat(from.localAddress()).isEqualTo("127.0.0.1");
            assertThat(from.sentBytes()).isEqualTo(1000);
            assertThat(from.receivedBytes()).isZero();
            assertThat(from.sendCredits()).isEqualTo(383);
            SocketConnectionData to = end(connected.peer());
            assertThat(to.side() + " " + to.state()).isEqualTo("accept ESTABLISHED");
            assertThat(to.receivedBytes()).isEqualTo(1000);
            assertThat(to.readable()).isEqualTo(700);
            assertThat(to.receiveCredits()).isEqualTo(383);
            assertThat(to.receiveRoom()).isEqualTo((1 << 17) - 1000);
            assertThat(to.queuePair()).isNotEqualTo(from.queuePair());
        }
    }

    /** Fills the peer's buffer. Its second half is offered a moment after the connection stands. */
    private static void fill(SocketChannel channel, ByteBuffer bytes) throws Exception {
        Wait.until("the peer's buffer is full", () -> {
            channel.write(bytes);
            return end(channel).sentBytes() == 1 << 17;
        });
    }

    @Test
    void creditsAndRoomThatThePeerHasNotGivenAreNone() throws Exception {
        try (Connected connected = Connected.over(Transport.ROCE)) {
            SocketChannel channel = connected.channel();
            channel.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(1 << 18);
            fill(channel, bytes);
            assertThat(end(channel).sendRoom()).isZero();
            Wait.until("all is acknowledged", () -> end(channel).unacknowledged() == 0);
            SocketConnectionData to = end(connected.peer());
            assertThat(to.readable()).isEqualTo(1 << 17);
            assertThat(to.receiveRoom()).isZero();
            assertThat(to.receiveCredits()).isEqualTo(end(channel).sendCredits());
        }
    }

    /** Its messages begin short, so that the first bytes leave while the next are copied. The rest of a write has no such reason. */
    @Test
    void restOfAWriteGoesInLongMessages() throws Exception {
        try (Connected connected = Connected.over(Transport.ROCE)) {
            SocketChannel channel = connected.channel();
            channel.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
            fill(channel, bytes);
            Wait.until("all is there",
                    () -> end(connected.peer()).readable() == 1 << 17);
            int before = end(connected.peer()).receiveCredits();
            ByteBuffer half = ByteBuffer.allocate(1 << 16);
            assertThat(connected.peer().read(half)).isEqualTo(1 << 16);
            Wait.until("half of it is free again",
                    () -> end(channel).sendRoom() == 1 << 16);
            int credits = end(channel).sendCredits();
            assertThat(credits).isGreaterThan(before);
            assertThat(channel.write(bytes)).isEqualTo(1 << 16);
            assertThat(end(channel).sendCredits()).isEqualTo(credits - 1);
        }
    }

    @Test
    void endsOfDirectionsAreStates() throws Exception {
        try (Connected connected = Connected.over(Transport.ROCE)) {
            connected.channel().shutdownOutput();
            assertThat(connected.peer().read(ByteBuffer.allocate(1))).isNegative();
            assertThat(end(connected.channel()).state()).isEqualTo("OUTPUT_ENDED");
            assertThat(end(connected.peer()).state()).isEqualTo("INPUT_ENDED");
            connected.peer().shutdownOutput();
            assertThat(connected.channel().read(ByteBuffer.allocate(1))).isNegative();
            assertThat(end(connected.channel()).state()).isEqualTo("ENDED");
        }
    }

    @Test
    void listenerShowsWhoWaitsToBeAccepted() throws Exception {
        try (ServerSocketChannel listener = Transport.ROCE.listen();
                SocketChannel channel = Transport.ROCE.open()) {
            channel.connect(listener.getLocalAddress());
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            Wait.until("it waits", () -> listeners(port)
                    .equals(List.of(new SocketListenerData("127.0.0.1", port, 50, 1, 0, ""))));
            listener.accept().close();
            assertThat(listeners(port))
                    .containsExactly(new SocketListenerData("127.0.0.1", port, 50, 0, 0, ""));
        }
    }

    private static List<SocketListenerData> listeners(int port) throws Exception {
        return bean().getListeners().stream().filter(each -> each.localPort() == port).toList();
    }

    private static DatagramSocketData datagrams(RdmaDatagramChannel channel) throws Exception {
        int port = ((InetSocketAddress) Objects.requireNonNull(channel.getLocalAddress()))
                .getPort();
        return bean().getDatagramSockets().stream().filter(each -> each.localPort() == port)
                .findFirst().orElseThrow();
    }

    @Test
    void socketOfDatagramsHasItsPeersAndWhatItHasDone() throws Exception {
        try (RdmaDatagramChannel server = RdmaSockets.openDatagramChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo").bind(Transport.loopback(0));
                RdmaDatagramChannel client = RdmaSockets.openDatagramChannel()
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")) {
            InetSocketAddress to = (InetSocketAddress) Objects
                    .requireNonNull(server.getLocalAddress());
            client.connect(to);
            client.write(ByteBuffer.allocate(10));
            server.send(ByteBuffer.allocate(3),
                    Objects.requireNonNull(server.receive(ByteBuffer.allocate(99))));
            assertThat(client.read(ByteBuffer.allocate(99))).isEqualTo(3);
            // Each datagram introduces the client until the server's introduction has come, over UDP as well.
            client.write(ByteBuffer.allocate(20));
            while (datagrams(client).introducedDatagrams() == datagrams(client).sentDatagrams()) {
                server.receive(ByteBuffer.allocate(99));
                client.write(ByteBuffer.allocate(20));
            }
            Wait.until("it waits", () -> datagrams(server).waiting() == 1);
            DatagramSocketData atClient = datagrams(client);
            long sent = atClient.sentDatagrams();
            assertThat(atClient.peerAddress() + " " + atClient.peerPort())
                    .isEqualTo("127.0.0.1 " + to.getPort());
            assertThat(sent).isGreaterThanOrEqualTo(2);
            assertThat(atClient.sentBytes()).isEqualTo(10 + 20 * (sent - 1));
            assertThat(atClient.introducedDatagrams()).isEqualTo(sent - 1);
            assertThat(atClient.receivedDatagrams()).isOne();
            assertThat(atClient.receivedBytes()).isEqualTo(3);
            DatagramSocketData atServer = datagrams(server);
            assertThat(atServer.localAddress()).isEqualTo("127.0.0.1");
            assertThat(atServer.peerAddress() + atServer.peerPort()).isEqualTo("0");
            assertThat(atServer.receivedDatagrams()).isEqualTo(sent);
            assertThat(atServer.receivedBytes()).isEqualTo(10 + 20 * (sent - 1));
            assertThat(atServer.peers()).isOne();
            assertThat(atServer.droppedDatagrams()).isZero();
            assertThat(atServer.receiveBuffer()).isEqualTo(1 << 17);
            assertThat(atServer.queuePairs()).singleElement().satisfies(pair -> {
                assertThat(pair.device()).isEqualTo("roce_lo");
                assertThat(pair.address()).isEqualTo("127.0.0.1");
                assertThat(pair.queuePair())
                        .isNotEqualTo(atClient.queuePairs().getFirst().queuePair());
            });
            client.disconnect();
            assertThat(datagrams(client).peerAddress()).isEmpty();
        }
    }

    @Test
    void nothingIsShownAfterAllAreClosed() throws Exception {
        Connected.over(Transport.ROCE).close();
        RdmaSockets.openDatagramChannel().setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                .bind(Transport.loopback(0)).close();
        ObjectName name = new ObjectName("io.rdma4j:type=Sockets");
        // The property goes first, by which others find it.
        Wait.until("nothing is shown", () -> !SERVER.isRegistered(name));
        assertThat(System.getProperty("rdma4j.sockets.open")).isNull();
    }
}
