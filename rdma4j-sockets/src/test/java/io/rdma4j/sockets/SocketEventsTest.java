// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.testkit.Wait;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a recording of Java Flight Recorder holds of sockets. */
class SocketEventsTest {
    private static final int ROCE_PORT = 4791;

    private final FlightRecording recording = new FlightRecording();

    @TempDir
    private Path directory;

    @AfterEach
    void end() {
        recording.close();
    }

    private static String text(SocketAddress address) {
        return FlightRecording.text((InetSocketAddress) address);
    }

    /** {@return the ends of a connection as its first side sees them} */
    private static String ends(SocketChannel channel) throws IOException {
        return text(channel.getLocalAddress()) + " " + text(channel.getRemoteAddress());
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void connectionFromItsBeginningToItsEnd(Transport transport) throws Exception {
        String channel;
        String peer;
        try (Connected connected = Connected.over(transport)) {
            channel = ends(connected.channel());
            peer = ends(connected.peer());
            connected.channel().write(ByteBuffer.allocate(1000));
            connected.channel().close();
            ByteBuffer bytes = ByteBuffer.allocate(2000);
            Wait.until("all was read", () -> connected.peer().read(bytes) < 0);
        }
        String device = transport.device();
        assertThat(recording.events(directory, "SocketConnect", "outcome", "local", "remote",
                "device", "reason"))
                .containsOnlyOnce("ESTABLISHED " + channel + " " + device + " ");
        assertThat(recording.events(directory, "SocketAccept", "local", "remote", "device"))
                .containsOnlyOnce(peer + " " + device);
        assertThat(recording.events(directory, "SocketClose", "local", "remote", "device",
                "sentBytes", "receivedBytes", "mappedBytes", "end", "reason"))
                .containsOnlyOnce(channel + " " + device + " 1000 0 0 CLOSED ",
                        peer + " " + device + " 0 1000 0 CLOSED_BY_PEER ");
    }

    @Test
    void timesArePositiveAndTheQueuePairsAreThoseOfTheConnection() throws Exception {
        String channel;
        try (Connected connected = Connected.over(Transport.ROCE)) {
            channel = ends(connected.channel());
        }
        List<String> connects = recording.events(directory, "SocketConnect", "local", "remote",
                "queuePair");
        List<String> closes = recording.events(directory, "SocketClose", "local", "remote",
                "queuePair");
        String connect = connects.stream().filter(each -> each.startsWith(channel)).findFirst()
                .orElseThrow();
        assertThat(connect).doesNotEndWith(" 0");
        assertThat(closes).contains(connect);
        assertThat(recording.events(directory, "SocketConnect", "elapsed"))
                .allSatisfy(each -> assertThat(Long.parseLong(each)).isPositive());
        assertThat(recording.events(directory, "SocketAccept", "queued"))
                .allSatisfy(each -> assertThat(Long.parseLong(each)).isNotNegative());
        assertThat(recording.events(directory, "SocketClose", "lifetime"))
                .allSatisfy(each -> assertThat(Long.parseLong(each)).isPositive());
    }

    @Test
    void attemptThatFailsHasTheReasonOfTheException() throws Exception {
        InetSocketAddress nobody = Transport.ROCE.unusedAddress();
        String[] message = new String[1];
        try (SocketChannel channel = Transport.ROCE.open()) {
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> channel.connect(nobody))
                    .satisfies(e -> message[0] = e.getMessage());
        }
        assertThat(message[0]).startsWith("Connection refused");
        assertThat(recording.events(directory, "SocketConnect", "outcome", "remote", "reason"))
                .containsOnlyOnce("FAILED " + text(nobody) + " " + message[0]);
        assertThat(recording.events(directory, "SocketClose", "remote"))
                .doesNotContain(text(nobody));
    }

    @Test
    void attemptThatTheProgramGivesUpIsCancelled() throws Exception {
        long pid = ProcessHandle.current().pid();
        String address = "127.91." + (pid >>> 7 & 0xff) + "." + (1 + (pid & 0x7f));
        InetSocketAddress silent = new InetSocketAddress(address, 7);
        // Takes the requests of the connection manager, and does not answer.
        try (DatagramSocket _ = new DatagramSocket(new InetSocketAddress(address, ROCE_PORT));
                SocketChannel channel = Transport.ROCE.open()) {
            channel.configureBlocking(false);
            assertThat(channel.connect(silent)).isFalse();
        }
        assertThat(recording.events(directory, "SocketConnect", "outcome", "remote", "reason"))
                .containsOnlyOnce("CANCELLED " + text(silent) + " ");
    }

    @Test
    void sideThatDropsItsBytesHasAbortedAndItsPeerIsBroken() throws Exception {
        String channel;
        String peer;
        try (Connected connected = Connected.over(Transport.ROCE)) {
            channel = ends(connected.channel());
            peer = ends(connected.peer());
            connected.channel().setOption(StandardSocketOptions.SO_LINGER, 0);
            connected.channel().close();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> connected.peer().read(ByteBuffer.allocate(1)));
        }
        assertThat(recording.events(directory, "SocketClose", "local", "remote", "end", "reason"))
                .containsOnlyOnce(channel + " ABORTED ", peer + " BROKEN Connection reset");
    }

    @Test
    void datagramsFromTheirPeersToTheEnd() throws Exception {
        InetSocketAddress from;
        InetSocketAddress to;
        // The server's answer may come before its introduction, which takes another way.
        CountDownLatch introductions = new CountDownLatch(2);
        try (RecordingStream stream = new RecordingStream();
                RdmaDatagramChannel server = RdmaSockets.openDatagramChannel()
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                        .bind(Transport.loopback(0));
                RdmaDatagramChannel client = RdmaSockets.openDatagramChannel()
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                        .bind(Transport.loopback(0));
                DatagramSocket stranger = new DatagramSocket()) {
            stream.onEvent("io.rdma4j.DatagramPeer", _ -> introductions.countDown());
            stream.startAsync();
            to = (InetSocketAddress) Objects.requireNonNull(server.getLocalAddress());
            client.connect(to);
            from = (InetSocketAddress) Objects.requireNonNull(client.getLocalAddress());
            stranger.send(new DatagramPacket(new byte[4], 4, to));
            client.write(ByteBuffer.allocate(7));
            server.send(ByteBuffer.allocate(3),
                    Objects.requireNonNull(server.receive(ByteBuffer.allocate(9))));
            assertThat(client.read(ByteBuffer.allocate(9))).isEqualTo(3);
            assertThat(introductions.await(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(recording.events(directory, "DatagramSocketClose", "local", "remote",
                "sentDatagrams", "sentBytes", "introducedDatagrams", "receivedDatagrams",
                "receivedBytes", "droppedDatagrams", "reason"))
                .containsOnlyOnce(text(from) + " " + text(to) + " 1 7 1 1 3 0 ",
                        text(to) + "  1 3 0 1 7 1 ");
        List<String> peers = recording.events(directory, "DatagramPeer", "local", "remote",
                "device");
        assertThat(peers).containsOnlyOnce(text(from) + " " + text(to) + " roce_lo",
                text(to) + " " + text(from) + " roce_lo");
        assertThat(pairs("remoteQueuePair", from)).isEqualTo(pairs("queuePair", to));
    }

    private List<String> pairs(String field, InetSocketAddress local) throws Exception {
        return recording.events(directory, "DatagramPeer", "local", field).stream()
                .filter(each -> each.startsWith(text(local) + " "))
                .map(each -> each.substring(text(local).length())).toList();
    }
}
