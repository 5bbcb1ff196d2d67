// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each example against a process that is killed while the example waits for its next word. */
@Tag("processes")
@Timeout(120)
class KilledPeerTest {
    private static final Patience SHORT = new Patience(Duration.ofMillis(500));
    private static final String ADDRESS = TwoSides.ownLoopbackAddress().getHostAddress();
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(ADDRESS, 0);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintWriter out = new PrintWriter(bytes, true,
            StandardCharsets.UTF_8);

    /** A {@link SilentPeer}. */
    private static final class Peer implements AutoCloseable {
        private final Process process;
        private final BufferedReader reader;

        Peer(String... arguments) throws IOException {
            assertThat(SilentPeer.class.getModule().isNamed())
                    .as("these tests run on the class path, which their peers are given").isFalse();
            List<String> command = new ArrayList<>(
                    List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                            // Without native access it would not share UDP port 4791 of loopback.
                            "--enable-native-access=ALL-UNNAMED", "-cp",
                            System.getProperty("java.class.path"), SilentPeer.class.getName()));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            reader = process.inputReader(StandardCharsets.UTF_8);
        }

        static Peer client(InetSocketAddress server, int messages) throws IOException {
            return new Peer("client", ADDRESS, String.valueOf(server.getPort()),
                    String.valueOf(messages));
        }

        String lineWith(String words) throws IOException {
            String line = reader.readLine();
            while (line != null && !line.contains(words)) {
                line = reader.readLine();
            }
            if (line == null) {
                throw new IOException("no line with '" + words + "'");
            }
            return line;
        }

        /** Kills it, as {@code kill -9} does, once it has fallen silent. */
        void killWhenSilent() throws Exception {
            lineWith("silent");
            process.destroyForcibly().waitFor();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private interface Serving {
        void serve(Consumer<CmId> onListening) throws Exception;
    }

    private interface Connecting {
        void connect(InetSocketAddress server) throws Exception;
    }

    /** A server that runs, and where it listens. */
    private record Server(CompletableFuture<Void> served, InetSocketAddress address) {
        static Server of(Serving serving) throws Exception {
            CompletableFuture<InetSocketAddress> listening = new CompletableFuture<>();
            CompletableFuture<Void> served = start(_ -> serving
                    .serve(listener -> listening.complete(listener.localAddress())), ANY_PORT);
            CompletableFuture.anyOf(listening, served).get();
            return new Server(served, listening.get());
        }
    }

    private static CompletableFuture<Void> start(Connecting side, InetSocketAddress address) {
        return CompletableFuture.runAsync(() -> {
            try {
                side.connect(address);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /**
     * Either the wait ends; or the last message was still without its acknowledgement, or the acceptance without
     * its confirmation, when the peer was killed.
     */
    private static void assertGivesUp(CompletableFuture<Void> side) {
        assertThatThrownBy(side::get).cause().cause().isInstanceOfSatisfying(RdmaException.class,
                e -> {
                    assertThat(e.errno()).isIn(Errno.ETIMEDOUT, Errno.EIO, Errno.ECONNREFUSED);
                    assertThat(e.getMessage()).doesNotContain("\n")
                            .containsAnyOf("may have been killed", "RETRY_EXCEEDED", "accept");
                });
    }

    private static void assertServerGivesUp(Serving serving, int messages) throws Exception {
        Server server = Server.of(serving);
        try (Peer peer = Peer.client(server.address(), messages)) {
            peer.killWhenSilent();
            assertGivesUp(server.served());
        }
    }

    private static void assertClientGivesUp(Connecting connecting, int messages)
            throws Exception {
        try (Peer peer = new Peer("server", ADDRESS, String.valueOf(messages))) {
            int port = Integer.parseInt(peer.lineWith("listening").replaceAll("\\D", ""));
            CompletableFuture<Void> connected = start(connecting,
                    new InetSocketAddress(ADDRESS, port));
            peer.killWhenSilent();
            assertGivesUp(connected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readWriteGivesUp(ReadWrite.Mode mode) throws Exception {
        assertServerGivesUp(ready -> ReadWrite.serve(ANY_PORT, mode, out, ready, SHORT), 1);
        assertClientGivesUp(address -> ReadWrite.connect(address, mode, out, SHORT), 1);
    }

    @Test
    void addingGivesUp() throws Exception {
        assertServerGivesUp(ready -> Adding.serve(ANY_PORT, out, ready, SHORT), 0);
        assertClientGivesUp(address -> Adding.add(address, 1, 2, out, SHORT), 1);
    }

    @Test
    void fileTransferGivesUp(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "content");
        assertServerGivesUp(ready -> FileTransfer.receive(ANY_PORT, directory, out, ready, SHORT),
                1);
        assertClientGivesUp(address -> FileTransfer.send(address, file, out, SHORT), 0);
    }

    @Test
    void basicClientGivesUp() throws Exception {
        assertClientGivesUp(address -> BasicClient.run(address, out, SHORT), 1);
    }

    private void assertServerEndsTheConnection(Serving serving, int messages) throws Exception {
        Server server = Server.of(serving);
        try (Peer peer = Peer.client(server.address(), messages)) {
            peer.killWhenSilent();
            server.served().get();
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8)).contains("may have been killed");
    }

    @Test
    void basicServerEndsTheConnection() throws Exception {
        assertServerEndsTheConnection(ready -> BasicServer.run(ANY_PORT, 1, out, ready, SHORT), 1);
    }

    @Test
    void oneSelectorEndsTheConnection() throws Exception {
        assertServerEndsTheConnection(
                ready -> OneSelector.serve(ANY_PORT, 1, out, ready, SHORT), 0);
        assertClientGivesUp(address -> OneSelector.ask(address, "text", out, SHORT), 1);
    }
}
