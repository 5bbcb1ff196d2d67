package io.rdma4j.examples;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

import static io.rdma4j.examples.TwoSides.ANY_PORT;
import static io.rdma4j.examples.TwoSides.ask;
import static io.rdma4j.examples.TwoSides.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every example that the connection manager connects, over iWARP. */
class IwarpExamplesTest {
    private static final String DEVICE = "rdma4j.device";

    private final Output server = new Output();
    private final Output client = new Output();

    @BeforeAll
    static void chooseDevice() {
        System.setProperty(DEVICE, "iwarp");
    }

    @AfterAll
    static void leaveTheChoice() {
        System.clearProperty(DEVICE);
    }

    @Test
    void basicClientAndServerGreetEachOther() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.out, ready),
                address -> BasicClient.run(address, client.out));
        assertThat(server.lines()).contains("send completed successfully.", "peer disconnected.");
        assertThat(client.lines()).contains("send completed successfully.", "disconnected.");
    }

    @ParameterizedTest
    @EnumSource
    void readWriteShowsEachTheMemoryOfTheOther(ReadWrite.Mode mode) throws Exception {
        run(ready -> ReadWrite.serve(ANY_PORT, mode, server.out, ready),
                address -> ReadWrite.connect(address, mode, client.out));
        assertThat(server.lines()).last().asString()
                .startsWith("remote buffer: message from active/client side");
        assertThat(client.lines()).last().asString()
                .startsWith("remote buffer: message from passive/server side");
    }

    @Test
    void addingServerAdds() throws Exception {
        run(ready -> Adding.serve(ANY_PORT, server.out, ready), address -> assertThat(
                Adding.add(address, 123_456, -789, client.out)).isEqualTo(122_667));
    }

    /** Without immediates. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 20, (3 << 20) + 17})
    void fileArrivesAsItWas(int size, @TempDir Path directory) throws Exception {
        Path file = directory.resolve("original.bin");
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(file, bytes);
        Path received = Files.createDirectory(directory.resolve("received"));
        run(ready -> FileTransfer.receive(ANY_PORT, received, server.out, ready),
                address -> FileTransfer.send(address, file, client.out));
        assertThat(received.resolve("original.bin")).hasBinaryContent(bytes);
    }

    /** Its listener has a port of TCP, so sockets have another. */
    @Test
    void oneSelectorServesSocketsAndRdmaAtOnce() throws Exception {
        run(ready -> OneSelector.serve(ANY_PORT, 2, server.out, ready), address -> {
            int tcpPort = Integer.parseInt(server.lines().getFirst()
                    .replaceAll(".*for TCP on port (\\d+)\\.", "$1"));
            assertThat(tcpPort).isNotEqualTo(address.getPort());
            try (Socket socket = new Socket(address.getAddress(), tcpPort)) {
                assertThat(ask(socket, "by tcp")).isEqualTo("BY TCP");
            }
            assertThat(OneSelector.ask(address, "by rdma", client.out)).isEqualTo("BY RDMA");
        });
        assertThat(server.lines()).contains("an RDMA client has come.", "a TCP client has come.");
    }

    @Test
    void noConnectionIsMadeByHand() throws Exception {
        try (ServerSocket peer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> ByHand.connect("iwarp_lo", peer.getInetAddress(),
                            peer.getLocalPort(), client.out))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
                    .withMessageContaining("connection manager");
        }
    }
}
