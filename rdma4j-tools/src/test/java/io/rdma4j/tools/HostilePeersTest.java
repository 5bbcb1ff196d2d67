// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What hostile peers cost a process with an iWARP device: memory and descriptors, and other peers' connections nothing. */
@EnabledOnOs(OS.LINUX)
@Tag("long")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class HostilePeersTest {
    private static final int CONNECTIONS = 10_000;
    private static final int DEAF = 100;
    private static final long MIB = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final byte[] REQUEST = request(0, 0);

    private final List<Socket> sockets = new ArrayList<>();
    private Program server;
    private int port;
    private long usualMemory;
    private long usualDescriptors;

    @BeforeEach
    void start() throws Exception {
        server = Program.of(PushingServer.class, List.of("-Xmx64m"), List.of(Loopback.OWN));
        port = Integer.parseInt(server.port());
        connectAndReceive();
        usualMemory = memory();
        usualDescriptors = descriptors();
    }

    @AfterEach
    void end() throws IOException {
        closeAll();
        server.close();
    }

    private void closeAll() throws IOException {
        for (Socket each : sockets) {
            each.close();
        }
        sockets.clear();
    }

    /** A request of MPA's revision 1, with fewer bytes of private data than it promises. RFC 5044 7.1. */
    private static byte[] request(int promised, int sent) {
        byte[] key = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(20 + sent).put(key).put((byte) 0).put((byte) 1)
                .putShort((short) promised).array();
    }

    private Path proc(String file) {
        return Path.of("/proc", server.pid(), file);
    }

    /** {@return the server's resident memory in bytes} */
    private long memory() throws IOException {
        String line = Files.readAllLines(proc("status")).stream()
                .filter(each -> each.startsWith("VmRSS:")).findFirst().orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }

    private long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(proc("fd"))) {
            return open.count();
        }
    }

    /** A peer that behaves gets all that the server sends it. */
    private void connectAndReceive() throws Exception {
        try (Arena arena = Arena.ofShared(); CmId id = CmId.create(PortSpace.TCP)) {
            id.device("iwarp");
            id.resolveAddress(new InetSocketAddress(Loopback.OWN, port), PATIENCE);
            id.resolveRoute(PATIENCE);
            id.createQueuePair();
            try (MemoryRegion region = id.protectionDomain()
                    .register(arena.allocate(PushingServer.MESSAGE), AccessFlag.LOCAL_WRITE)) {
                for (int i = 0; i < PushingServer.MESSAGES; i++) {
                    id.postReceive(i, region, 0, PushingServer.MESSAGE);
                }
                id.connect(new ConnectionParameters());
                for (int i = 0; i < PushingServer.MESSAGES; i++) {
                    WorkCompletion received = id.pollReceiveCompletion(PATIENCE);
                    assertThat(received).isNotNull();
                    assertThat(received.isSuccess()).as(received.toString()).isTrue();
                }
                id.disconnect();
            }
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(Loopback.OWN, port);
        sockets.add(socket);
        return socket;
    }

    private void send(Socket to, byte[] bytes) {
        try {
            to.getOutputStream().write(bytes);
        } catch (IOException ended) {
            // The server has ended the connection.
            assertThat(ended).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }
    }

    /** Meanwhile a peer that behaves is served, and afterwards the descriptors are free. */
    private void check(String what, long mostMemory, long mostDescriptors) throws Exception {
        // After those that connected before it.
        connectAndReceive();
        long memory = memory() - usualMemory;
        long descriptors = descriptors() - usualDescriptors;
        closeAll();
        Wait.until("the descriptors are free", () -> descriptors() <= usualDescriptors + 2);
        System.out.printf(
                "%s: %d MiB more memory and %d more descriptors; afterwards %d MiB and %d%n",
                what, memory / MIB, descriptors, (memory() - usualMemory) / MIB,
                descriptors() - usualDescriptors);
        assertThat(memory).as("memory").isLessThan(mostMemory);
        assertThat(descriptors).as("descriptors").isLessThan(mostDescriptors);
    }

    @Test
    void connectionsThatSayNothing() throws Exception {
        for (int i = 0; i < CONNECTIONS; i++) {
            connect();
        }
        check(CONNECTIONS + " silent connections", 64 * MIB, 1200);
    }

    @Test
    void connectionsThatStopInTheMiddleOfTheirRequest() throws Exception {
        byte[] incomplete = request(512, 511);
        for (int i = 0; i < CONNECTIONS; i++) {
            send(connect(), incomplete);
        }
        check(CONNECTIONS + " incomplete requests", 64 * MIB, 1200);
    }

    @Test
    void connectionsThatSendNonsense() throws Exception {
        Random random = new Random(1);
        byte[] nonsense = new byte[4096];
        for (int i = 0; i < CONNECTIONS; i++) {
            random.nextBytes(nonsense);
            send(connect(), nonsense);
        }
        check(CONNECTIONS + " connections with 4 KiB of nonsense", 64 * MIB, 1200);
    }

    private void establish() throws Exception {
        for (int i = 0; i < DEAF; i++) {
            send(connect(), REQUEST);
        }
        awaitMoreThan(0, "the reply");
    }

    private void awaitMoreThan(int bytes, String what) throws Exception {
        for (Socket each : sockets) {
            Wait.until(what, () -> each.getInputStream().available() > bytes);
        }
    }

    /** For each of them the server keeps one burst that the system has not accepted. */
    @Test
    void establishedConnectionsThatReadNothing() throws Exception {
        establish();
        // The server holds its messages back for a while, as their initiators have not promised to send first.
        awaitMoreThan(REQUEST.length, "the beginning of a message behind the reply");
        check(DEAF + " connections that read nothing", 64 * MIB, DEAF + 20);
    }

    /** Of a SEND of the greatest length the last bytes are missing, so that all of it has to be kept. */
    @Test
    void establishedConnectionsThatStopInTheMiddleOfAUnit() throws Exception {
        ByteBuffer unit = ByteBuffer.allocate(1 << 16).putShort((short) 0xfffc)
                .put((byte) 0x41).put((byte) 0x43).putInt(0).putInt(0).putInt(1);
        establish();
        for (Socket each : sockets) {
            send(each, unit.array());
        }
        check(DEAF + " connections with an incomplete unit of 64 KiB", 64 * MIB, DEAF + 20);
    }
}
