// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.observe.jmx.SocketsMXBean;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;

import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/** Buffers of streams that run out of room become larger, unless their size was set; no byte changes. */
class GrowingBuffersTest {
    private static final int USUAL = 1 << 17;
    private static final int LARGER = 1 << 20;
    /** More than it takes until the buffer is large, and through that several times. */
    private static final int ROUNDS = 40;

    private static SocketConnectionData end(SocketChannel channel) throws Exception {
        int local = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        int peer = ((InetSocketAddress) channel.getRemoteAddress()).getPort();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdma4j:type=Sockets");
        Wait.until("the bean is there", () -> server.isRegistered(name));
        return JMX.newMXBeanProxy(server, name, SocketsMXBean.class).getConnections().stream()
                .filter(each -> each.localPort() == local && each.peerPort() == peer)
                .findFirst().orElseThrow();
    }

    /** Writes until the peer has no room, reads when all of that has arrived until nothing is left, again and again. */
    private static void streamTo(Connected connected, int rounds) throws Exception {
        SocketChannel from = connected.channel();
        from.configureBlocking(false);
        connected.peer().configureBlocking(false);
        byte[] bytes = new byte[4 * LARGER];
        new Random(1).nextBytes(bytes);
        int sent = 0;
        int received = 0;
        ByteBuffer in = ByteBuffer.allocate(LARGER);
        for (int round = 0; round < rounds; round++) {
            sent = fill(connected, bytes, sent);
            int read = 1;
            while (read > 0) {
                read = connected.peer().read(in.clear());
                in.flip();
                received = check(in, bytes, received);
            }
            assertThat(received).isEqualTo(sent);
        }
    }

    /** {@return where the bytes begin that come after what the peer has room for} All of that has arrived. */
    private static int fill(Connected connected, byte[] bytes, int first) throws Exception {
        int[] next = {first};
        Wait.until("the peer has no room", () -> {
            long written = -1;
            while (written != 0) {
                written = connected.channel().write(ByteBuffer.wrap(bytes).position(next[0]));
                next[0] = (int) ((next[0] + written) % bytes.length);
            }
            SocketConnectionData from = end(connected.channel());
            SocketConnectionData to = end(connected.peer());
            return from.sendRoom() == 0 && to.receiveRoom() == 0
                    && to.receivedBytes() == from.sentBytes();
        });
        return next[0];
    }

    private static int check(ByteBuffer in, byte[] bytes, int received) {
        int first = Math.min(in.remaining(), bytes.length - received);
        assertThat(in.slice(0, first)).isEqualTo(ByteBuffer.wrap(bytes, received, first));
        assertThat(in.slice(first, in.remaining() - first))
                .isEqualTo(ByteBuffer.wrap(bytes, 0, in.remaining() - first));
        return (received + in.remaining()) % bytes.length;
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void bufferOfAStreamGrows(Transport transport) throws Exception {
        try (Connected connected = Connected.over(transport)) {
            streamTo(connected, ROUNDS);
            assertThat(end(connected.peer()).receiveBuffer()).isEqualTo(LARGER);
            // The other direction has sent nothing.
            assertThat(end(connected.channel()).receiveBuffer()).isEqualTo(USUAL);
            assertThat(end(connected.peer()).sendBuffer()).isEqualTo(USUAL);
        }
    }

    /** Since it is used in halves. */
    @Test
    void programThatExpectsTcpGetsTwiceTheSizeThatItSets() throws Exception {
        try (ServerSocketChannel listener = new RuledSelectorProvider("rdma")
                .openServerSocketChannel();
                SocketChannel channel = new RuledSelectorProvider("auto").openSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 16384);
            listener.bind(Transport.loopback(0));
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 16384);
            channel.connect(listener.getLocalAddress());
            try (Connected connected = new Connected(channel, listener.accept())) {
                assertThat(end(connected.peer()).receiveBuffer()).isEqualTo(32768);
                assertThat(end(channel).sendBuffer()).isEqualTo(32768);
                assertThat(end(channel).receiveBuffer()).isEqualTo(USUAL);
                assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isEqualTo(16384);
                assertThat(connected.peer().getOption(StandardSocketOptions.SO_RCVBUF))
                        .isEqualTo(16384);
            }
        }
    }

    @Test
    void bufferWhoseSizeWasSetKeepsIt() throws Exception {
        try (ServerSocketChannel listener = RdmaSockets.openServerSocketChannel();
                SocketChannel channel = Transport.ROCE.open()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, USUAL);
            listener.bind(Transport.loopback(0));
            channel.setOption(StandardSocketOptions.SO_SNDBUF, USUAL);
            channel.connect(listener.getLocalAddress());
            try (Connected connected = new Connected(channel, listener.accept())) {
                streamTo(connected, ROUNDS);
                assertThat(end(connected.peer()).receiveBuffer()).isEqualTo(USUAL);
                assertThat(end(connected.channel()).sendBuffer()).isEqualTo(USUAL);
            }
        }
    }

    /** Nobody waits for room. */
    @Test
    void buffersOfRequestsAndResponsesStay() throws Exception {
        try (Connected connected = Connected.over(Transport.ROCE)) {
            ByteBuffer word = ByteBuffer.allocate(1000);
            for (int i = 0; i < 2000; i++) {
                connected.channel().write(word.clear());
                word.clear();
                while (word.hasRemaining()) {
                    connected.peer().read(word);
                }
            }
            assertThat(end(connected.peer()).receiveBuffer()).isEqualTo(USUAL);
            assertThat(end(connected.channel()).sendBuffer()).isEqualTo(USUAL);
        }
    }
}
