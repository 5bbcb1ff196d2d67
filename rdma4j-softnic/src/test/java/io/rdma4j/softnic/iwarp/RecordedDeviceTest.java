// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.iwarp.RecordedDirection.Unit;
import io.rdma4j.softnic.network.stream.TcpCapture;
import io.rdma4j.softnic.network.stream.TcpCapture.Segment;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

import static io.rdma4j.softnic.iwarp.RecordedDirection.READ_REQUEST;
import static io.rdma4j.softnic.iwarp.RecordedDirection.READ_RESPONSE;
import static io.rdma4j.softnic.iwarp.RecordedDirection.SEND;
import static io.rdma4j.softnic.iwarp.RecordedDirection.WRITE;
import static io.rdma4j.softnic.network.stream.TcpCapture.ACK;
import static io.rdma4j.softnic.network.stream.TcpCapture.FIN;
import static io.rdma4j.softnic.network.stream.TcpCapture.SYN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Devices opened with a file for their recording: it has the connection as TCP, and in it the messages. */
class RecordedDeviceTest {
    private static final int MESSAGE = 1001;
    /** More than a unit, and more than a segment of a recording. */
    private static final int WRITTEN = 150_000;
    private static final int READ = 70_003;
    /** Where the client reads to. */
    private static final int COPY = 1 << 20;

    @TempDir
    private Path folder;

    /** Both sides of a connection, of a device that records. */
    private static final class Recorded extends IwarpStage implements AutoCloseable {
        Recorded(Path file, InetAddress address, boolean wantsCrc) throws Exception {
            super(open(DeviceOptions.DEFAULT.withCapture(file), wantsCrc), address);
        }

        /** A message, a WRITE and a READ of the client, and an answer. */
        void talk() throws Exception {
            connect();
            for (int i = 0; i < WRITTEN; i++) {
                client.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >> 8)));
            }
            server.receive(1, MESSAGE);
            client.receive(2, MESSAGE);
            client.queuePair.postSend(new SendWorkRequest().id(3).send()
                    .add(client.region, 0, MESSAGE).set(SendFlag.SIGNALED));
            client.awaitSuccess(3);
            server.awaitSuccess(1);
            client.queuePair.postSend(new SendWorkRequest().id(4)
                    .write(server.region.address(), server.region.rkey())
                    .add(client.region, 0, WRITTEN).set(SendFlag.SIGNALED));
            client.awaitSuccess(4);
            client.queuePair.postSend(new SendWorkRequest().id(5)
                    .read(server.region.address(), server.region.rkey())
                    .add(client.region, COPY, READ).set(SendFlag.SIGNALED));
            client.awaitSuccess(5);
            server.queuePair.postSend(new SendWorkRequest().id(6).send()
                    .add(server.region, 0, MESSAGE).set(SendFlag.SIGNALED));
            server.awaitSuccess(6);
            client.awaitSuccess(2);
            client.connected().disconnect();
            client.awaitWord("over");
            server.awaitWord("over");
        }

        byte[] written(int length) {
            return client.memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        }

        @Override
        public void close() throws RdmaException {
            super.close();
        }
    }

    @ParameterizedTest(name = "{0}, CRC {1}")
    @CsvSource({"127.0.0.1, false", "127.0.0.1, true", "::1, false", "::1, true"})
    void messagesAreFoundInARecording(String address, boolean hasCrc) throws Exception {
        InetAddress own = InetAddress.ofLiteral(address);
        assumeThat(NetworkInterface.getByInetAddress(own)).as("an interface with " + address)
                .isNotNull();
        Path file = folder.resolve("messages.pcap");
        byte[] message;
        byte[] written;
        byte[] read;
        long target;
        int key;
        try (Recorded stage = new Recorded(file, own, hasCrc)) {
            stage.talk();
            message = stage.written(MESSAGE);
            written = stage.written(WRITTEN);
            read = stage.written(READ);
            target = stage.server.region.address();
            key = stage.server.region.rkey();
        }
        List<Segment> segments = TcpCapture.segments(file);
        InetSocketAddress client = segments.getFirst().from();
        InetSocketAddress server = segments.getFirst().to();
        assertThat(client.getAddress()).isEqualTo(own);
        assertThat(server.getAddress()).isEqualTo(own);
        assertThatItIsOneConnection(segments, client, server);

        RecordedDirection request = new RecordedDirection(segments, client);
        assertThat(request.rest).isZero();
        assertThat(request.privateData).asString().isEqualTo("hello");
        // By which the server knows that it may send.
        assertThat(request.units.getFirst().opcode()).isEqualTo(WRITE);
        assertThat(request.units.getFirst().payload()).isEmpty();
        assertThat(request.carried(SEND)).isEqualTo(message);
        assertThat(request.carried(WRITE)).isEqualTo(written);
        assertThatTheyFollowEachOther(request.units(WRITE), key, target);
        assertThat(request.units(READ_REQUEST)).singleElement().satisfies(unit -> {
            ByteBuffer header = ByteBuffer.wrap(unit.payload());
            assertThat(header.limit()).isEqualTo(28);
            assertThat(header.getInt(12)).isEqualTo(READ);
            assertThat(header.getInt(16)).isEqualTo(key);
            assertThat(header.getLong(20)).isEqualTo(target);
        });

        RecordedDirection reply = new RecordedDirection(segments, server);
        assertThat(reply.rest).isZero();
        assertThat(reply.privateData).asString().isEqualTo("welcome");
        assertThat(reply.carried(SEND)).isEqualTo(message);
        assertThat(reply.carried(READ_RESPONSE)).isEqualTo(read);

        assertThat(request.units).allMatch(unit -> hasRightCrc(unit, hasCrc));
        assertThat(reply.units).allMatch(unit -> hasRightCrc(unit, hasCrc));
    }

    /** As each side has recorded it. */
    private static void assertThatItIsOneConnection(List<Segment> segments,
            InetSocketAddress client, InetSocketAddress server) {
        assertThat(segments).allMatch(
                segment -> (segment.from().equals(client) && segment.to().equals(server))
                        || (segment.from().equals(server) && segment.to().equals(client)));
        for (InetSocketAddress side : List.of(client, server)) {
            List<Integer> flags = segments.stream()
                    .filter(segment -> segment.from().equals(side)).map(Segment::flags).toList();
            int opening = side.equals(client) ? SYN : SYN | ACK;
            assertThat(flags.getFirst()).isEqualTo(opening);
            assertThat(flags).filteredOn(each -> each == opening).hasSize(2);
            assertThat(flags.getLast()).isEqualTo(FIN | ACK);
            assertThat(flags).filteredOn(each -> each == (FIN | ACK)).hasSize(2);
        }
    }

    private static void assertThatTheyFollowEachOther(List<Unit> units, int key, long target) {
        assertThat(units).hasSizeGreaterThan(1);
        long next = target;
        for (Unit unit : units) {
            assertThat(unit.key()).isEqualTo(key);
            assertThat(unit.offset()).isEqualTo(next);
            assertThat(unit.isLast()).isEqualTo(unit.equals(units.getLast()));
            next += unit.payload().length;
        }
    }

    private static boolean hasRightCrc(Unit unit, boolean hasCrc) {
        return unit.crc() == (hasCrc ? unit.rightCrc() : 0);
    }
}
