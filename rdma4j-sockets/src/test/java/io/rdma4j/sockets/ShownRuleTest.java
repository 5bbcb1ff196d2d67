// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.observe.jmx.SocketsMXBean;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

import javax.management.JMX;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which rule has decided for RDMA, as JMX and Java Flight Recorder show it. */
class ShownRuleTest {
    private final FlightRecording recording = new FlightRecording();

    @TempDir
    private Path directory;

    @AfterEach
    void end() {
        recording.close();
    }

    private static int port(NetworkChannel channel) throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    private static SocketsMXBean bean() throws Exception {
        ObjectName name = new ObjectName("io.rdma4j:type=Sockets");
        Wait.until("the bean is there",
                () -> ManagementFactory.getPlatformMBeanServer().isRegistered(name));
        return JMX.newMXBeanProxy(ManagementFactory.getPlatformMBeanServer(), name,
                SocketsMXBean.class);
    }

    private static String ofConnection(SocketChannel channel) throws Exception {
        int local = port(channel);
        int peer = ((InetSocketAddress) channel.getRemoteAddress()).getPort();
        return bean().getConnections().stream()
                .filter(each -> each.localPort() == local && each.peerPort() == peer).findFirst()
                .orElseThrow().rule();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        // The rules of the server, and that which decides; those of the client, likewise.
        "rdma; rdma; rdma; rdma; false", "rdma; rdma; rdma; rdma; true",
        "10.0.0.0/8=tcp, listen:127.0.0.0/8 = rdma, *=tcp; listen:127.0.0.0/8 = rdma;"
                + " auto; auto; false",
        "auto; auto; connect:127.0.0.1=rdma,tcp; connect:127.0.0.1=rdma; true"})
    void bothEndsAndTheListenerShowTheirOwn(String ofServer, String listens, String ofClient,
            String connects, boolean isBound) throws Exception {
        String place;
        try (ServerSocketChannel listener = new RuledSelectorProvider(ofServer)
                .openServerSocketChannel().bind(Transport.loopback(0));
                SocketChannel client = new RuledSelectorProvider(ofClient).openSocketChannel()) {
            if (isBound) {
                client.bind(Transport.loopback(0));
            }
            client.connect(listener.getLocalAddress());
            try (SocketChannel accepted = listener.accept()) {
                assertThat(ofConnection(client)).isEqualTo(connects);
                assertThat(ofConnection(accepted)).isEqualTo(listens);
                int port = port(listener);
                assertThat(bean().getListeners().stream().filter(each -> each.localPort() == port)
                        .findFirst().orElseThrow().rule()).isEqualTo(listens);
                place = FlightRecording.text((InetSocketAddress) client.getLocalAddress());
            }
        }
        assertThat(recording.events(directory, "SocketAccept", "remote", "rule"))
                .contains(place + " " + listens);
        assertThat(recording.events(directory, "SocketConnect", "outcome", "local", "rule"))
                .contains("ESTABLISHED " + place + " " + connects);
        assertThat(recording.events(directory, "SocketClose", "local", "rule"))
                .contains(place + " " + connects);
        assertThat(recording.events(directory, "SocketClose", "remote", "rule"))
                .contains(place + " " + listens);
    }

    @Test
    void attemptThatFailsHasItInItsEvent() throws Exception {
        InetSocketAddress nobody;
        try (ServerSocketChannel listener = RdmaSockets.openServerSocketChannel()
                .bind(Transport.loopback(0))) {
            nobody = (InetSocketAddress) listener.getLocalAddress();
        }
        try (SocketChannel channel = new RuledSelectorProvider("127.0.0.1=rdma,*=tcp")
                .openSocketChannel()) {
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> channel.connect(nobody));
        }
        assertThat(recording.events(directory, "SocketConnect", "outcome", "remote", "rule"))
                .contains("FAILED " + FlightRecording.text(nobody) + " 127.0.0.1=rdma");
    }

    @Test
    void withoutRulesThereIsNone() throws Exception {
        try (Connected connected = Connected.over(Transport.ROCE)) {
            assertThat(ofConnection(connected.channel())).isEmpty();
            assertThat(ofConnection(connected.peer())).isEmpty();
        }
    }

    @Test
    void datagramsShowTheirs() throws Exception {
        try (DatagramChannel channel = new RuledSelectorProvider("datagrams:127.0.0.1=rdma,tcp")
                .openDatagramChannel(StandardProtocolFamily.INET)
                .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                .bind(Transport.loopback(0))) {
            int port = port(channel);
            assertThat(bean().getDatagramSockets().stream()
                    .filter(each -> each.localPort() == port).findFirst().orElseThrow().rule())
                    .isEqualTo("datagrams:127.0.0.1=rdma");
            InetSocketAddress itself = (InetSocketAddress) channel.getLocalAddress();
            channel.send(ByteBuffer.allocate(3), itself);
            assertThat(channel.receive(ByteBuffer.allocate(9))).isEqualTo(itself);
        }
        assertThat(recording.events(directory, "DatagramPeer", "rule"))
                .contains("datagrams:127.0.0.1=rdma");
        assertThat(recording.events(directory, "DatagramSocketClose", "rule"))
                .contains("datagrams:127.0.0.1=rdma");
    }
}
