// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A thread that polls one connection without a pause, and no selector, keeps nothing else waiting. */
@Timeout(60)
class PollingThreadTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);
    /** By when the engine's thread, which leads on after a thread has slept, has given way. */
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private interface Poll {
        /** {@return whether it is to be polled once more} */
        boolean run() throws IOException;
    }

    private static void poll(long forNs, Poll poll) throws IOException {
        long startNs = System.nanoTime();
        while (poll.run() && System.nanoTime() - startNs < forNs) {
            Thread.onSpinWait();
        }
    }

    private static boolean isEmpty(SocketChannel channel) throws IOException {
        return channel.read(ByteBuffer.allocate(1)) == 0;
    }

    /** Polls it, and the connection that is about to come. */
    private static final class Server implements Poll {
        private final SocketChannel polled;
        private final SocketChannel client;
        private final ServerSocketChannel listener;
        private boolean isConnected;
        private @Nullable SocketChannel accepted;

        Server(SocketChannel polled, SocketChannel client, ServerSocketChannel listener) {
            this.polled = polled;
            this.client = client;
            this.listener = listener;
        }

        @Override
        public boolean run() throws IOException {
            assertThat(isEmpty(polled)).isTrue();
            isConnected = client.finishConnect();
            if (accepted == null) {
                accepted = listener.accept();
            }
            return !isConnected || accepted == null;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void anotherConnectionComes(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                Connected first = Connected.with(transport, listener);
                SocketChannel second = transport.open()) {
            first.channel().configureBlocking(false);
            listener.configureBlocking(false);
            second.configureBlocking(false);
            poll(SETTLED_NS, () -> isEmpty(first.channel()));
            boolean _ = second.connect(listener.getLocalAddress());
            Server server = new Server(first.channel(), second, listener);
            poll(PATIENCE_NS, server);
            assertThat(server.isConnected).isTrue();
            SocketChannel accepted = server.accepted;
            assertThat(accepted).isNotNull();
            accepted.close();
        }
    }

    /** Only an event of the connection manager tells it. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void resetIsNoticed(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            pair.channel().configureBlocking(false);
            poll(SETTLED_NS, () -> isEmpty(pair.channel()));
            pair.peer().setOption(StandardSocketOptions.SO_LINGER, 0).close();
            assertThatThrownBy(() -> poll(PATIENCE_NS, () -> isEmpty(pair.channel())))
                    .isInstanceOf(SocketException.class);
        }
    }

    /** The answer on the connection that is polled depends on all bytes of another one, of which the last are gathered. */
    @EnabledOnOs(OS.LINUX)
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void gatheredBytesOfAnotherConnectionLeave(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                ForkedProgram program = new ForkedProgram(PollingPeer.class, List.of(),
                        transport.name(), String.valueOf(
                                ((InetSocketAddress) listener.getLocalAddress()).getPort()));
                SocketChannel data = listener.accept();
                SocketChannel answers = listener.accept()) {
            data.socket().setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
            for (int i = 0; i < PollingPeer.ROUNDS; i++) {
                assertThat(data.socket().getInputStream().readNBytes(PollingPeer.BYTES))
                        .hasSize(PollingPeer.BYTES);
                answers.write(ByteBuffer.allocate(1));
            }
            program.awaitEnd();
        }
    }
}
