// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import com.sun.management.ThreadMXBean;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a recording of Java Flight Recorder holds of a device. */
class FlightEventsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final FlightRecording recording = new FlightRecording();

    @TempDir
    private Path directory;

    @AfterEach
    void end() {
        recording.close();
    }

    private List<String> events(String kind, String... fields) throws Exception {
        return recording.events(directory, kind, fields);
    }

    @Test
    void statesOfAQueuePairUpToTheStatusThatFailedIt() throws Exception {
        Pair pair = new Pair();
        pair.a.queuePair.postSend(pair.a.request(1).write(pair.b.region.address(), 0xbad)
                .add(pair.a.region, 0, 100));
        pair.settle();
        int a = pair.a.queuePair.number();
        int b = pair.b.queuePair.number();
        assertThat(events("QueuePairState", "queuePair", "from", "to", "cause"))
                .containsExactly(
                        a + " RESET INIT MODIFY", a + " INIT RTR MODIFY", a + " RTR RTS MODIFY",
                        b + " RESET INIT MODIFY", b + " INIT RTR MODIFY", b + " RTR RTS MODIFY",
                        b + " RTS ERR QP_ACCESS_ERROR", a + " RTS ERR REMOTE_ACCESS_ERROR");
    }

    @Test
    void asynchronousEventsWithTheirQueuePairAndDevice() throws Exception {
        Pair pair = new Pair();
        pair.a.queuePair.postSend(pair.a.request(1).write(pair.b.region.address(), 0xbad)
                .add(pair.a.region, 0, 100));
        pair.settle();
        String device = pair.b.node.nic.device().name();
        assertThat(events("AsyncEvent", "device", "type", "queuePair", "port"))
                .contains(device + " QP_ACCESS_ERROR " + pair.b.queuePair.number() + " 0");
    }

    @Test
    void retransmissionAfterASequenceError() throws Exception {
        Pair pair = new Pair();
        loseFirst(pair, Opcode.RC_WRITE_MIDDLE);
        pair.a.write(1, 5000);
        pair.settle();
        assertThat(events("Retransmission", "queuePair", "psn", "cause")).containsExactly(
                pair.a.queuePair.number() + " " + 0xffffff + " SEQUENCE_NAK");
    }

    @Test
    void retransmissionAfterAGapInTheResponses() throws Exception {
        Pair pair = new Pair();
        loseFirst(pair, Opcode.RC_READ_RESPONSE_ONLY);
        pair.a.read(1, 100);
        pair.a.write(2, 100);
        pair.settle();
        assertThat(events("Retransmission", "psn", "cause"))
                .containsExactly(Pair.FIRST_PSN + " IMPLIED_NAK");
    }

    @Test
    void retransmissionsBeforeAndAfterATimeout() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.retryCount = 1;
        Pair pair = new Pair(settings);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
        assertThat(events("Retransmission", "psn", "cause"))
                .contains(Pair.FIRST_PSN + " RTT_ESTIMATE", Pair.FIRST_PSN + " TIMEOUT")
                .containsOnlyOnce(Pair.FIRST_PSN + " TIMEOUT");
    }

    private static void loseFirst(Pair pair, Opcode opcode) {
        boolean[] isLost = new boolean[1];
        pair.simulation.network.loseIf(packet -> {
            boolean loses = !isLost[0] && packet.opcode() == opcode;
            isLost[0] |= loses;
            return loses;
        });
    }

    @Test
    void missingReceiveOnBothSides() throws Exception {
        Pair pair = new Pair();
        pair.a.send(1, 10);
        pair.run(1_000_000);
        pair.b.receive(2, 10);
        pair.settle();
        assertThat(events("ReceiverNotReady", "queuePair", "side")).contains(
                pair.b.queuePair.number() + " this", pair.a.queuePair.number() + " peer");
    }

    @Test
    void dropsWithReasonAndSource() throws Exception {
        Pair pair = new Pair();
        Gid local = pair.b.node.nic.gids().get(1);
        Gid stranger = Gid.of(InetAddress.ofLiteral("127.0.0.66"));
        pair.simulation.network.inject(stranger, local, new byte[3]);
        pair.simulation.network.inject(
                pair.b.forge(Opcode.RC_ACKNOWLEDGE, Pair.FIRST_PSN + 5).acknowledgement(0x1f, 9));
        pair.settle();
        assertThat(events("Drop", "reason", "source", "queuePair")).containsExactlyInAnyOrder(
                "dropped_too_short 127.0.0.66 0",
                "dropped_ghost_ack 127.0.0.2 " + pair.a.queuePair.number());
    }

    @Test
    void floodOfGarbageLeavesFewEvents() throws Exception {
        Pair pair = new Pair();
        RoceTransport transport = (RoceTransport) pair.b.node.nic.transport();
        for (int i = 0; i < 100_000; i++) {
            transport.handler().onDamaged(Gid.ZERO, 100);
        }
        assertThat(transport.engine().counters().value(Counter.DROPPED_BAD_ICRC))
                .isEqualTo(100_000);
        assertThat(events("Drop", "reason")).isNotEmpty().hasSizeLessThan(20_000);
    }

    @Test
    void connectionsWithBothAddresses() throws Exception {
        String local;
        String remote;
        int queuePair;
        int serverQueuePair;
        int port;
        try (CmId listener = CmId.create(PortSpace.TCP); CmId client = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), 0));
            listener.listen(1);
            port = listener.localPort();
            CompletableFuture<CmId> served = CompletableFuture.supplyAsync(() -> {
                try {
                    CmId id = listener.awaitRequest();
                    id.createQueuePair();
                    id.accept(new ConnectionParameters());
                    return id;
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            });
            client.resolveAddress(listener.localAddress(), TIMEOUT);
            client.resolveRoute(TIMEOUT);
            client.createQueuePair();
            client.connect(new ConnectionParameters());
            try (CmId server = served.get(20, TimeUnit.SECONDS);
                    MemoryRegion region = server.registerMessages(
                            MemorySegment.ofBuffer(ByteBuffer.allocateDirect(8)))) {
                local = FlightRecording.text(client.localAddress());
                remote = FlightRecording.text(client.peerAddress());
                queuePair = client.queuePair().number();
                serverQueuePair = server.queuePair().number();
                client.disconnect();
                // It learns of the end by the flush of a receive.
                server.postReceive(1, region, 0, 8);
                assertThat(server.awaitReceiveCompletion().isSuccess()).isFalse();
            }
            assertRejected(port + 1);
        }
        List<String> events = events("Connection", "outcome", "local", "remote", "queuePair",
                "reason");
        assertThat(events).contains("ESTABLISHED " + local + " " + remote + " " + queuePair + " 0",
                "ESTABLISHED " + remote + " " + local + " " + serverQueuePair + " 0",
                "DISCONNECTED " + local + " " + remote + " " + queuePair + " 0",
                "DISCONNECTED " + remote + " " + local + " " + serverQueuePair + " 0");
        assertThat(events).anyMatch(event -> event.startsWith("REJECTED " + CmStage.OWN + " port ")
                && event.contains(" " + CmStage.OWN + " port " + (port + 1) + " ")
                && event.endsWith(" 8"));
    }

    private static void assertRejected(int port) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), port),
                    TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> id.connect(new ConnectionParameters()));
        }
    }

    // ---------------------------------------------------------------- without a recording

    @Test
    void floodOfGarbageAllocatesNothingWhileNobodyRecords() throws Exception {
        recording.stop();
        Pair pair = new Pair();
        RoceTransport transport = (RoceTransport) pair.b.node.nic.transport();
        OutgoingPacket packet = pair.a.forge(Opcode.RC_SEND_ONLY, 1);
        MemorySegment bytes = MemorySegment.ofArray(new byte[64]);
        int length = packet.copyTo(bytes, 0) + PacketView.ICRC_LENGTH;
        ReceivedDatagram forNobody = new ReceivedDatagram().fill(pair.b.node.nic.gids().get(1),
                Gid.ZERO, 4791, 0, bytes, 0, length);
        drop(transport, forNobody);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        drop(transport, forNobody);
        assertThat((threads.getCurrentThreadAllocatedBytes() - before) / 100_000)
                .as("bytes for each dropped datagram").isZero();
        assertThat(transport.engine().counters().value(Counter.DROPPED_BAD_ICRC))
                .isEqualTo(200_000);
        assertThat(counted(pair.b.queuePair, Counter.DROPPED_WRONG_SOURCE)).isEqualTo(200_000);
    }

    private static void drop(RoceTransport transport, ReceivedDatagram datagram) {
        for (int i = 0; i < 100_000; i++) {
            transport.handler().onDamaged(Gid.ZERO, 100);
            transport.handler().onDatagram(datagram);
        }
    }
}
