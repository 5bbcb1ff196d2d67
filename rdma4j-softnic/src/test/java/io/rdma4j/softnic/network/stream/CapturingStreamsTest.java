package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Byte streams that are recorded. */
class CapturingStreamsTest {
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int RST = 4;

    @TempDir
    static Path folder;

    private static StreamNetwork network(Path file) throws RdmaException {
        return CapturingStreams.open(new PortableStreams(), file);
    }

    @Nested
    class Contract extends StreamContract {
        Contract() throws RdmaException {
            super(network(folder.resolve("contract.pcap")));
        }
    }

    /** A segment of TCP over IPv4 in a capture. */
    private record Segment(int from, int to, int sequence, int acknowledged, int flags,
            byte[] bytes) {}

    /** Without the product's help: the layouts of pcap(5), RFC 791 and RFC 9293. */
    private static List<Segment> segments(Path file) {
        ByteBuffer in;
        try {
            in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        in.position(24);
        List<Segment> found = new ArrayList<>();
        while (in.hasRemaining()) {
            int length = in.getInt(in.position() + 8);
            ByteBuffer packet = in.slice(in.position() + 16, length);
            in.position(in.position() + 16 + length);
            assertThat(packet.get(0)).isEqualTo((byte) 0x45);
            assertThat(packet.getShort(2)).isEqualTo((short) length);
            assertThat(packet.get(9)).isEqualTo((byte) 6);
            assertThat(sum(packet, 0, 20, 0)).isEqualTo(0xffff);
            assertThat(sum(packet, 12, length, 6 + length - 20)).isEqualTo(0xffff);
            byte[] bytes = new byte[length - 40];
            packet.get(40, bytes);
            found.add(new Segment(packet.getShort(20) & 0xffff, packet.getShort(22) & 0xffff,
                    packet.getInt(24), packet.getInt(28), packet.get(33), bytes));
        }
        return found;
    }

    private static int sum(ByteBuffer packet, int from, int to, int start) {
        int sum = start;
        for (int i = from; i < to; i++) {
            sum += (packet.get(i) & 0xff) << ((i - from) % 2 == 0 ? 8 : 0);
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }

    /** A network of which only the first side is recorded. */
    private static final class Recorded extends StreamContract implements AutoCloseable {
        private final StreamNetwork other = new PortableStreams();

        Recorded(Path file) throws RdmaException {
            super(network(file));
        }

        /** {@return the recorded side of a connection to another network} */
        End toOther() throws Exception {
            InetSocketAddress at = other.listen(ANY_PORT, 1, stream -> {
                End end = new End();
                end.stream = stream;
                stream.handler(end);
                accepted.add(end);
            }).local();
            End end = connect(at);
            untilBoth("both ends", () -> end.isConnected && accepted.size() == 1);
            return end;
        }

        /** While both networks are driven. */
        void untilBoth(String what, BooleanSupplier isTrue) throws Exception {
            until(what, () -> {
                other.poll();
                return isTrue.getAsBoolean();
            });
        }

        @Override
        public void close() {
            network.close();
            other.close();
        }
    }

    @Test
    void aConnectionIsRecordedFromItsBeginningToItsEnd() throws Exception {
        Path file = folder.resolve("whole.pcap");
        byte[] request = "request".getBytes(StandardCharsets.US_ASCII);
        int own;
        int peer;
        try (Recorded recorded = new Recorded(file)) {
            StreamContract.End client = recorded.toOther();
            StreamContract.End server = recorded.accepted.getFirst();
            own = client.stream().local().getPort();
            peer = client.stream().remote().getPort();
            client.send(ByteBuffer.wrap(request));
            recorded.untilBoth("the request", () -> server.received == request.length);
            // More than an IP packet holds.
            server.send(ByteBuffer.allocate(100_000));
            recorded.untilBoth("the answer", () -> client.received == 100_000);
            client.stream().close();
        }
        List<Segment> segments = segments(file);
        assertThat(segments.subList(0, 3)).extracting(Segment::flags).containsExactly(SYN,
                SYN | 16, 16);
        assertThat(segments.getFirst().from()).isEqualTo(own);
        assertThat(segments.getLast().flags()).isEqualTo(FIN | 16);
        assertThat(segments.getLast().from()).isEqualTo(own);
        assertThat(bytesOf(segments, own)).isEqualTo(request);
        assertThat(bytesOf(segments, peer)).isEqualTo(new byte[100_000]);
        assertThat(segments.getLast().acknowledged()).isEqualTo(1 + 100_000);
    }

    /** {@return the bytes of one side, each of which has its number} */
    private static byte[] bytesOf(List<Segment> segments, int port) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Segment segment : segments) {
            if (segment.from() == port && segment.bytes().length > 0) {
                assertThat(segment.sequence()).isEqualTo(1 + bytes.size());
                bytes.writeBytes(segment.bytes());
            }
        }
        return bytes.toByteArray();
    }

    @Test
    void aResetIsRecorded() throws Exception {
        Path file = folder.resolve("reset.pcap");
        try (Recorded recorded = new Recorded(file)) {
            recorded.toOther().stream().reset();
        }
        assertThat(segments(file).getLast().flags()).isEqualTo(RST | 16);
    }

    @Test
    void aFileThatCannotBeWrittenIsRefused() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> network(folder.resolve("missing/file.pcap")))
                .withMessageContaining("there is no folder")
                .matches(e -> e.errno() == Errno.ENOENT);
    }
}
