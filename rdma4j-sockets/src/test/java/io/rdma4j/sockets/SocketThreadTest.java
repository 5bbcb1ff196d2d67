// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Threads that wait in sockets while others act: over RDMA as over TCP, in platform threads and in virtual ones. */
@Timeout(60)
class SocketThreadTest {
    private static final int BYTES = 300_000;

    /** Two sockets, connected; the first has connected. */
    private record Pair(Socket socket, Socket peer) implements AutoCloseable {
        static Pair over(SocketKind kind, Transport transport) throws IOException {
            try (ServerSocket listener = kind.listen(transport)) {
                Socket socket = kind.open(transport);
                socket.connect(listener.getLocalSocketAddress(), 5_000);
                return new Pair(socket, listener.accept());
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
            peer.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, ROCE, false", "OF_CHANNEL, ROCE, true", "OF_CHANNEL, IWARP, true",
        "ALONE, ROCE, false", "ALONE, ROCE, true", "ALONE, IWARP, false",
        "ALONE, RULED_RDMA, false", "ALONE, RULED_RDMA, true", "ALONE, RULED_TCP, false",
        "ALONE, RULED_TCP, true", "ALONE, RULED_AUTO, false", "ALONE, RULED_AUTO, true"})
    void waitsEndAsOverTcp(SocketKind kind, Transport transport, boolean isVirtual)
            throws Exception {
        assertThat(waits(kind, transport, isVirtual))
                .isEqualTo(waits(kind, Transport.TCP, isVirtual));
    }

    private static List<String> waits(SocketKind kind, Transport transport, boolean isVirtual)
            throws Exception {
        List<String> seen = new ArrayList<>();
        try (Pair pair = Pair.over(kind, transport)) {
            seen.add("read, bytes came: "
                    + ThreadContractTest.outcome(isVirtual, () -> read(pair.socket()),
                            waiting -> pair.peer().getOutputStream().write(new byte[3])));
            seen.add("read, closed: " + ThreadContractTest.outcome(isVirtual,
                    () -> read(pair.socket()), waiting -> pair.socket().close()));
            seen.add("peer: " + read(pair.peer()));
        }
        try (Pair pair = Pair.over(kind, transport)) {
            seen.add("read, input shut: " + ThreadContractTest.outcome(isVirtual,
                    () -> read(pair.socket()), waiting -> pair.socket().shutdownInput()));
        }
        try (Pair pair = Pair.over(kind, transport)) {
            seen.add("read, peer's output shut: " + ThreadContractTest.outcome(isVirtual,
                    () -> read(pair.socket()), waiting -> pair.peer().shutdownOutput()));
        }
        try (Pair pair = Pair.over(kind, transport)) {
            seen.add("write, closed: " + ThreadContractTest.outcome(isVirtual,
                    () -> fill(pair.socket()), waiting -> pair.socket().close()));
        }
        if (kind == SocketKind.ALONE && !isVirtual) {
            try (Pair pair = Pair.over(kind, transport)) {
                pair.socket().setSoTimeout(60_000);
                seen.add("read with a time, interrupted, bytes came: "
                        + ThreadContractTest.outcome(false, () -> read(pair.socket()),
                                waiting -> {
                                    waiting.interrupt();
                                    pair.peer().getOutputStream().write(new byte[2]);
                                }));
            }
        }
        try (Pair pair = Pair.over(kind, transport)) {
            seen.add("read, interrupted: " + interrupted(kind, pair, isVirtual));
        }
        try (ServerSocket listener = kind.listen(transport)) {
            seen.add("accept, interrupted: " + acceptInterrupted(kind, listener, isVirtual));
        }
        ServerSocket closing = kind.listen(transport);
        seen.add("accept, closed: " + ThreadContractTest.outcome(isVirtual, closing::accept,
                waiting -> closing.close()));
        try (ServerSocket listener = kind.listen(transport)) {
            listener.setSoTimeout(15);
            assertThatThrownBy(listener::accept).isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("timed out");
            assertThat(listener.isClosed()).isFalse();
        }
        return seen;
    }

    /** An interruption of a platform thread ends no wait of a socket that has no channel. */
    private static String interrupted(SocketKind kind, Pair pair, boolean isVirtual)
            throws Exception {
        if (kind == SocketKind.ALONE && !isVirtual) {
            return ThreadContractTest.outcome(false, () -> {
                Thread.currentThread().interrupt();
                return read(pair.socket());
            }, waiting -> pair.peer().getOutputStream().write(new byte[4]));
        }
        return ThreadContractTest.outcome(isVirtual, () -> read(pair.socket()),
                Thread::interrupt) + " " + pair.socket().isClosed();
    }

    /** As of reads; the platform thread ends by its time. */
    private static String acceptInterrupted(SocketKind kind, ServerSocket listener,
            boolean isVirtual) throws Exception {
        if (kind == SocketKind.ALONE && !isVirtual) {
            listener.setSoTimeout(200);
        }
        return ThreadContractTest.outcome(isVirtual, listener::accept, Thread::interrupt) + " "
                + listener.isClosed();
    }

    private static int read(Socket from) throws IOException {
        return from.getInputStream().read(new byte[100]);
    }

    /** Writes until an exception ends that. */
    private static Object fill(Socket to) throws IOException {
        OutputStream output = to.getOutputStream();
        byte[] bytes = new byte[10_000_000];
        while (true) {
            output.write(bytes);
        }
    }

    /** As the JDK's, which a program catches; over RDMA nobody refuses before the first look. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "RULED_RDMA", "RULED_AUTO"})
    void interruptedConnectIsAnExceptionOfSockets(Transport transport) throws Exception {
        InetSocketAddress nowhere = transport.unusedAddress();
        Throwable[] thrown = new Throwable[1];
        Thread connecting = Thread.ofVirtual().start(() -> {
            Thread.currentThread().interrupt();
            try (Socket socket = SocketKind.ALONE.open(transport)) {
                socket.connect(nowhere, 10_000);
            } catch (IOException e) {
                thrown[0] = e;
            }
        });
        assertThat(connecting.join(Duration.ofSeconds(20))).isTrue();
        assertThat(thrown[0]).isInstanceOf(SocketException.class);
    }

    @Test
    void partOfATimeIsLeftForTcp() {
        assertThat(ConnectAttempt.patienceMs(0)).isEqualTo(1000);
        assertThat(ConnectAttempt.patienceMs(10_000)).isEqualTo(1000);
        assertThat(ConnectAttempt.patienceMs(500)).isEqualTo(250);
        assertThat(ConnectAttempt.patienceMs(1)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, ROCE", "OF_CHANNEL, IWARP", "ALONE, ROCE", "ALONE, IWARP",
        "ALONE, RULED_RDMA", "ALONE, RULED_TCP", "ALONE, RULED_AUTO", "ALONE, RULED_FALLBACK"})
    void bytesArrive(SocketKind kind, Transport transport) throws Exception {
        try (Pair pair = Pair.over(kind, transport);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            byte[] sent = new byte[BYTES];
            for (int i = 0; i < BYTES; i++) {
                sent[i] = (byte) (i * 31 + i / 256);
            }
            Future<?> sending = threads.submit(() -> {
                pair.socket().getOutputStream().write(sent);
                pair.socket().shutdownOutput();
                return null;
            });
            pair.peer().setSoTimeout(10_000);
            InputStream input = pair.peer().getInputStream();
            assertThat(input.readAllBytes()).isEqualTo(sent);
            assertThat(input.read()).isEqualTo(-1);
            sending.get();
        }
    }

    /** A time-out leaves the socket as it was. */
    @ParameterizedTest
    @CsvSource({"OF_CHANNEL, TCP", "OF_CHANNEL, ROCE", "ALONE, TCP", "ALONE, IWARP",
        "ALONE, RULED_RDMA", "ALONE, RULED_FALLBACK"})
    void readsGoOnAfterTimeouts(SocketKind kind, Transport transport) throws Exception {
        try (Pair pair = Pair.over(kind, transport)) {
            pair.socket().setSoTimeout(10);
            InputStream input = pair.socket().getInputStream();
            for (int i = 0; i < 3; i++) {
                long startNs = System.nanoTime();
                assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
                assertThat(System.nanoTime() - startNs).isGreaterThan(9_000_000);
                pair.peer().getOutputStream().write(i);
                pair.socket().setSoTimeout(10_000);
                assertThat(input.read()).isEqualTo(i);
                pair.socket().setSoTimeout(10);
            }
        }
    }

    @Test
    void factoriesMakeSockets() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket listener = RdmaServerSocketFactory.getDefault().createServerSocket(0, 9,
                loopback)) {
            int port = listener.getLocalPort();
            RdmaSocketFactory factory = new RdmaSocketFactory();
            String name = loopback.getHostAddress();
            List<Socket> clients = List.of(factory.createSocket(loopback, port),
                    factory.createSocket(name, port),
                    factory.createSocket(loopback, port, loopback, 0),
                    factory.createSocket(name, port, loopback, 0));
            for (Socket client : clients) {
                try (client; Socket accepted = listener.accept()) {
                    client.getOutputStream().write(5);
                    assertThat(accepted.getInputStream().read()).isEqualTo(5);
                    assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
                    assertThat(client.supportedOptions()).contains(RdmaSocketOptions.RDMA_SQSIZE);
                }
            }
        }
    }
}
