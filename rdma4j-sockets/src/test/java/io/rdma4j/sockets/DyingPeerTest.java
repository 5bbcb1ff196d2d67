// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.observe.jmx.SocketsMXBean;
import io.rdma4j.testkit.Wait;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;

import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Peers in processes of their own that are killed or stopped, and other connections meanwhile. */
@EnabledOnOs(OS.LINUX)
class DyingPeerTest {
    /** A peer's process, and this side of its connection. */
    private record Peer(ForkedProgram program, SocketChannel channel) implements AutoCloseable {
        static Peer over(Transport transport) throws Exception {
            try (ServerSocketChannel listener = transport.listen()) {
                int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
                ForkedProgram program = new ForkedProgram(CountingPeer.class, List.of(),
                        transport.name(), String.valueOf(port));
                SocketChannel channel = listener.accept();
                assertThat(channel.read(ByteBuffer.allocate(9))).isOne();
                assertThat(program.line()).isEqualTo("connected");
                return new Peer(program, channel);
            }
        }

        @Override
        public void close() throws IOException {
            program.close();
            channel.close();
        }
    }

    private static void fill(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        int full = 1 << 17;
        Wait.until("the peer's buffer is full",
                () -> channel.write(buffer) == 0 && buffer.position() >= full);
        channel.configureBlocking(true);
    }

    /**
     * Though it waits without an end, and sends nothing that somebody would have to acknowledge. Both processes choose their ways as programs do: over RoCE they meet in
     * memory.
     */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Timeout(30)
    void killedPeerIsAnExceptionForWhoReadsAllThatItHasWritten(Transport transport)
            throws Exception {
        try (ForkedProgram reader = new ForkedProgram(WaitingReader.class, List.of(),
                transport.name());
                ForkedProgram writer = new ForkedProgram(CountingPeer.class, List.of(),
                        transport.name(), reader.line())) {
            assertThat(writer.line()).isEqualTo("connected");
            writer.tell("write");
            assertThat(writer.line()).isEqualTo("written");
            writer.signal("KILL");
            assertThat(reader.awaitEnd())
                    .isEqualTo(1 + CountingPeer.WRITTEN + " bytes, then: Connection reset");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    void killedPeerIsAnExceptionForWhoWrites(Transport transport) throws Exception {
        try (Peer peer = Peer.over(transport)) {
            peer.program().signal("KILL");
            assertThatThrownBy(() -> Wait.until("a write fails",
                    () -> peer.channel().write(ByteBuffer.allocate(100_000)) < 0))
                    .isInstanceOf(IOException.class).hasMessageContaining("Connection ");
            assertThatThrownBy(() -> peer.channel().read(ByteBuffer.allocate(9)))
                    .isInstanceOf(IOException.class).hasMessageContaining("Connection ");
        }
    }

    /** Nothing is on its way that would not be acknowledged. */
    @ParameterizedTest
    @CsvSource({"ROCE, true", "ROCE, false", "IWARP, true", "IWARP, false"})
    @Tag("long")
    void killedPeerIsAnExceptionForWhoWaitsAndProbes(Transport transport, boolean isReading)
            throws Exception {
        try (Peer peer = Peer.over(transport)) {
            peer.channel().setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
            if (!isReading) {
                fill(peer.channel());
            }
            peer.program().signal("KILL");
            ByteBuffer buffer = ByteBuffer.allocate(100_000);
            assertThatThrownBy(() -> Wait.until("it fails", () -> isReading
                    ? peer.channel().read(buffer) < 0
                    : peer.channel().write(buffer.clear()) < 0))
                    .isInstanceOf(IOException.class).hasMessageContaining("Connection ");
        }
    }

    /** The peer had acknowledged everything, and would have to give credits. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    void killedPeerIsAnExceptionForWhoWaitsForCredits(Transport transport) throws Exception {
        try (Peer peer = Peer.over(transport)) {
            fill(peer.channel());
            int port = ((InetSocketAddress) peer.channel().getRemoteAddress()).getPort();
            Wait.until("all is acknowledged", () -> unacknowledged(port) == 0);
            peer.program().signal("KILL");
            ByteBuffer buffer = ByteBuffer.allocate(100_000);
            assertThatThrownBy(() -> Wait.until("a write fails",
                    () -> peer.channel().write(buffer.clear()) < 0))
                    .isInstanceOf(IOException.class).hasMessageContaining("Connection ");
        }
    }

    private static int unacknowledged(int peerPort) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdma4j:type=Sockets");
        Wait.until("the bean is there", () -> server.isRegistered(name));
        return JMX.newMXBeanProxy(server, name, SocketsMXBean.class).getConnections().stream()
                .filter(each -> each.peerPort() == peerPort)
                .mapToInt(SocketConnectionData::unacknowledged).sum();
    }

    /** It is not taken for dead: its device answers, though its application reads nothing. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    void peerThatReadsLateGetsEverything(Transport transport) throws Exception {
        try (Peer peer = Peer.over(transport)) {
            fill(peer.channel());
            peer.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(1);
            long untilNs = System.nanoTime() + Duration.ofSeconds(25).toNanos();
            Wait.until("two probes have been answered", () -> {
                assertThat(peer.channel().write(buffer)).isZero();
                return System.nanoTime() - untilNs > 0;
            });
            peer.program().tell("read");
            Wait.until("the peer has read", () -> peer.channel().write(buffer) > 0);
            peer.channel().close();
            assertThat(peer.program().awaitEnd()).startsWith("read ");
        }
    }

    /** It holds up neither other connections nor the end of its own. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    void stoppedPeerHoldsUpNobody(Transport transport) throws Exception {
        try (Peer peer = Peer.over(transport); Connected other = Connected.over(transport)) {
            peer.program().signal("STOP");
            peer.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(50_000);
            while (buffer.hasRemaining()) {
                peer.channel().write(buffer);
                other.channel().write(ByteBuffer.allocate(7));
                assertThat(other.peer().read(ByteBuffer.allocate(9))).isEqualTo(7);
            }
            peer.channel().configureBlocking(true);
            long startNs = System.nanoTime();
            peer.channel().close();
            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isLessThan(Duration.ofSeconds(5));
        }
    }

    /** What was written before its close still arrives. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void peerThatGoesOnGetsWhatWasClosedMeanwhile(Transport transport) throws Exception {
        try (Peer peer = Peer.over(transport)) {
            peer.program().signal("STOP");
            peer.channel().configureBlocking(false);
            int bytes = peer.channel().write(ByteBuffer.allocate(1 << 16));
            assertThat(bytes).isPositive();
            peer.channel().close();
            peer.program().signal("CONT");
            peer.program().tell("read");
            assertThat(peer.program().awaitEnd()).isEqualTo("read " + bytes);
        }
    }
}
