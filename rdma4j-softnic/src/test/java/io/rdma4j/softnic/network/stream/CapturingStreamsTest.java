// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.stream.TcpCapture.Segment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;

import static io.rdma4j.softnic.network.stream.TcpCapture.ACK;
import static io.rdma4j.softnic.network.stream.TcpCapture.FIN;
import static io.rdma4j.softnic.network.stream.TcpCapture.RST;
import static io.rdma4j.softnic.network.stream.TcpCapture.SYN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Byte streams that are recorded. */
class CapturingStreamsTest {
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
        InetSocketAddress own;
        InetSocketAddress peer;
        try (Recorded recorded = new Recorded(file)) {
            StreamContract.End client = recorded.toOther();
            StreamContract.End server = recorded.accepted.getFirst();
            own = client.stream().local();
            peer = client.stream().remote();
            client.send(ByteBuffer.wrap(request));
            recorded.untilBoth("the request", () -> server.received == request.length);
            // More than an IP packet holds.
            server.send(ByteBuffer.allocate(100_000));
            recorded.untilBoth("the answer", () -> client.received == 100_000);
            client.stream().close();
        }
        List<Segment> segments = TcpCapture.segments(file);
        assertThat(segments.subList(0, 3)).extracting(Segment::flags).containsExactly(SYN,
                SYN | ACK, ACK);
        assertThat(segments.getFirst().from()).isEqualTo(own);
        assertThat(segments.getFirst().to()).isEqualTo(peer);
        assertThat(segments.getLast().flags()).isEqualTo(FIN | ACK);
        assertThat(segments.getLast().from()).isEqualTo(own);
        assertThat(bytesOf(segments, own)).isEqualTo(request);
        assertThat(bytesOf(segments, peer)).isEqualTo(new byte[100_000]);
        assertThat(segments.getLast().acknowledged()).isEqualTo(1 + 100_000);
    }

    /** {@return the bytes of one side, each of which has its number} */
    private static byte[] bytesOf(List<Segment> segments, InetSocketAddress side) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Segment segment : segments) {
            if (segment.from().equals(side) && segment.bytes().length > 0) {
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
        assertThat(TcpCapture.segments(file).getLast().flags()).isEqualTo(RST | ACK);
    }

    @Test
    void aFileThatCannotBeWrittenIsRefused() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> network(folder.resolve("missing/file.pcap")))
                .withMessageContaining("there is no folder")
                .matches(e -> e.errno() == Errno.ENOENT);
    }
}
