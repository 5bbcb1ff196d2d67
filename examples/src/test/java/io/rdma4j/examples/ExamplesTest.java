package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every example runs, both sides, and says what it should. */
class ExamplesTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(
            InetAddress.getLoopbackAddress(), 0);

    private final Output server = new Output();
    private final Output client = new Output();

    private static final class Output {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(bytes, true, StandardCharsets.UTF_8);

        List<String> lines() {
            return bytes.toString(StandardCharsets.UTF_8).lines().toList();
        }
    }

    private interface Serving {
        void serve(Consumer<CmId> onListening) throws Exception;
    }

    private interface Connecting {
        void connect(InetSocketAddress address) throws Exception;
    }

    /** Runs a server in a thread of its own, and a client against it once it listens. */
    private static void run(Serving serving, Connecting connecting) throws Exception {
        CompletableFuture<InetSocketAddress> listening = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                serving.serve(listener -> listening.complete(listener.localAddress()));
            } catch (Exception e) {
                listening.completeExceptionally(e);
                throw new IllegalStateException(e);
            }
        });
        connecting.connect(listening.get(30, TimeUnit.SECONDS));
        served.get(30, TimeUnit.SECONDS);
    }

    @Test
    void basicClientAndServerGreetEachOther() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.stream, ready),
                address -> BasicClient.run(address, client.stream));
        String pid = String.valueOf(ProcessHandle.current().pid());
        assertThat(server.lines()).contains("received connection request.",
                "connected. posting send...", "send completed successfully.",
                "received message: message from active/client side with pid " + pid,
                "peer disconnected.");
        assertThat(client.lines()).contains("address resolved.", "route resolved.",
                "connected. posting send...", "send completed successfully.",
                "received message: message from passive/server side with pid " + pid,
                "disconnected.");
    }

    @Test
    void basicClientSaysWhyItCannotConnect() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.stream, ready), address -> {
            InetSocketAddress nobody = new InetSocketAddress(address.getAddress(), 1);
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> BasicClient.run(nobody, client.stream))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED))
                    .withMessageContaining("invalid service ID");
            BasicClient.run(address, client.stream);
        });
    }

    @ParameterizedTest
    @EnumSource
    void readWriteShowsEachTheMemoryOfTheOther(ReadWrite.Mode mode) throws Exception {
        run(ready -> ReadWrite.serve(ANY_PORT, mode, server.stream, ready),
                address -> ReadWrite.connect(address, mode, client.stream));
        assertThat(server.lines()).last().asString()
                .startsWith("remote buffer: message from active/client side");
        assertThat(client.lines()).last().asString()
                .startsWith("remote buffer: message from passive/server side");
    }

    @Test
    void addingServerAdds() throws Exception {
        run(ready -> Adding.serve(ANY_PORT, server.stream, ready), address -> assertThat(
                Adding.add(address, 123_456, -789, client.stream)).isEqualTo(122_667));
        assertThat(server.lines()).contains("adding 123456 and -789.");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 20, (3 << 20) + 17})
    void fileArrivesAsItWas(int size, @TempDir Path directory) throws Exception {
        Path file = directory.resolve("original.bin");
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(file, bytes);
        Path received = Files.createDirectory(directory.resolve("received"));
        run(ready -> FileTransfer.receive(ANY_PORT, received, server.stream, ready),
                address -> FileTransfer.send(address, file, client.stream));
        assertThat(received.resolve("original.bin")).hasBinaryContent(bytes);
    }

    @Test
    void connectionByHandPlaysPingPong() throws Exception {
        CompletableFuture<Integer> port = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                ByHand.serve("roce_lo", 0, server.stream, port::complete);
            } catch (Exception e) {
                port.completeExceptionally(e);
                throw new IllegalStateException(e);
            }
        });
        ByHand.connect("roce_lo", InetAddress.getLoopbackAddress(), port.get(30, TimeUnit.SECONDS),
                client.stream);
        served.get(30, TimeUnit.SECONDS);
        assertThat(client.lines()).contains("queue pair is in state RTS.").last().asString()
                .startsWith("1000 round trips of 64 bytes");
    }
}
