// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

import static io.rdma4j.examples.TwoSides.ANY_PORT;
import static io.rdma4j.examples.TwoSides.ask;
import static io.rdma4j.examples.TwoSides.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every example that the connection manager connects, over iWARP. */
class IwarpExamplesTest extends ConnectedExamples {
    private static final String DEVICE = "rdma4j.device";

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

    /** A client's message and its end come in one piece, so the server often hears of the end first. */
    @Test
    void basicServerLosesNoLastMessage() throws Exception {
        int count = 100;
        run(ready -> BasicServer.run(ANY_PORT, count, server.out, ready), address -> {
            for (int i = 0; i < count; i++) {
                sendAndLeave(address);
            }
        });
        assertThat(server.lines()).filteredOn("received message: bye"::equals).hasSize(count);
        assertThat(server.lines()).filteredOn("send completed successfully."::equals)
                .hasSize(count);
    }

    private static void sendAndLeave(InetSocketAddress address) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(address, Duration.ofSeconds(2));
            id.resolveRoute(Duration.ofSeconds(2));
            id.createQueuePair();
            MemorySegment memory = arena.allocate(1024);
            try (MemoryRegion region = id.registerMessages(memory)) {
                id.postReceive(1, region, 0, memory.byteSize());
                id.connect(new ConnectionParameters());
                id.awaitReceiveCompletion();
                memory.setString(0, "bye");
                id.postSend(2, region, 0, 4, SendFlag.SIGNALED);
                id.awaitSendCompletion();
                id.disconnect();
                id.closeQueuePair();
            }
        }
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
