// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.cm.Machine.Heard;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections and look-ups of native devices in a recording of Java Flight Recorder. */
@Timeout(60)
class RecordedConnectionsTest {
    private static final String THERE = "10.0.0.9 port 18515";

    private final Machine machine;
    private final Heard heard = new Heard();
    private final FlightRecording recording = new FlightRecording();
    @TempDir
    private Path directory = Path.of("");

    RecordedConnectionsTest() throws RdmaException {
        machine = new Machine();
    }

    @AfterEach
    void nothingIsLeft() {
        recording.close();
        machine.close();
    }

    private CmConnection connect() throws RdmaException {
        CmConnection connection = machine.roce.connect(Machine.request(Machine.ROCE, null), heard);
        machine.await(CmSymbol.CONNECT, 1);
        return connection;
    }

    @Test
    void connectionFromItsBeginningToItsEnd() throws Exception {
        CmConnection connection = connect();
        FakeCm.Id id = machine.newest();
        machine.cm.post(id, EventType.CONNECT_RESPONSE, 0);
        assertThat(heard.next()).isEqualTo("reply");
        connection.establish();
        machine.cm.post(id, EventType.DISCONNECTED, 0);
        assertThat(heard.next()).isEqualTo("disconnected");
        connection.close();
        assertThat(recording.events(directory, "Connection", "outcome", "remote", "queuePair",
                "reason")).containsExactly(
                        "ESTABLISHED " + THERE + " " + Machine.QUEUE_PAIR + " 0",
                        "DISCONNECTED " + THERE + " " + Machine.QUEUE_PAIR + " 0");
    }

    @Test
    void rejectionWithItsReason() throws Exception {
        CmConnection connection = connect();
        machine.cm.post(machine.newest(), EventType.REJECTED, 28);
        assertThat(heard.next()).isEqualTo("refused 28");
        connection.close();
        assertThat(recording.events(directory, "Connection", "outcome", "remote", "queuePair",
                "reason")).containsExactly(
                        "REJECTED " + THERE + " " + Machine.QUEUE_PAIR + " 28");
    }

    @Test
    void peerThatDoesNotAnswer() throws Exception {
        CmConnection connection = connect();
        machine.cm.post(machine.newest(), EventType.UNREACHABLE, -110);
        assertThat(heard.next()).isEqualTo("unreachable ETIMEDOUT");
        connection.close();
        assertThat(recording.events(directory, "Connection", "outcome", "remote"))
                .containsExactly("UNREACHABLE " + THERE);
    }

    @Test
    void lookUpThatIsRefused() throws Exception {
        BlockingQueue<String> words = new LinkedBlockingQueue<>();
        CmDatagrams datagrams = Objects.requireNonNull(machine.roce.datagramServices());
        CmLookup lookup = datagrams.lookUp(new ConnectRequest(PortSpace.UDP, QueuePairType.UD,
                new InetSocketAddress(Machine.ROCE, 40000), null, Machine.THERE,
                Machine.parameters(), Machine.QUEUE_PAIR, CmOptions.DEFAULT),
                new CmLookup.Handler() {
                    @Override
                    public void onService(DatagramParameters service) {
                        words.add("found");
                    }

                    @Override
                    public void onRefused(Refusal refusal) {
                        words.add("refused " + refusal.code());
                    }

                    @Override
                    public void onUnreachable(Errno reason) {
                        words.add("unreachable");
                    }
                });
        machine.await(CmSymbol.CONNECT, 1);
        machine.cm.post(machine.newest(), EventType.UNREACHABLE, 2);
        assertThat(words.poll(20, TimeUnit.SECONDS)).isEqualTo("refused 2");
        lookup.close();
        assertThat(recording.events(directory, "ServiceLookup", "outcome", "side", "local",
                "remote", "queuePair", "status")).containsExactly(
                        "REFUSED this 10.0.0.1 port 40000 " + THERE + " 0 2");
    }
}
