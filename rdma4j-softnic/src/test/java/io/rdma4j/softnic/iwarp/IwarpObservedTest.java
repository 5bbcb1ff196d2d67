// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** An iWARP device in JMX and in a recording of Java Flight Recorder. */
class IwarpObservedTest extends IwarpStage {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private final FlightRecording recording = new FlightRecording();

    @TempDir
    private Path directory;

    IwarpObservedTest() throws Exception {}

    @AfterEach
    void endRecording() {
        recording.close();
    }

    private List<String> events(String kind, String... fields) throws Exception {
        return recording.events(directory, kind, fields);
    }

    private SoftDeviceMXBean bean() throws Exception {
        ObjectName name = new ObjectName(
                "io.rdma4j:type=Device,name=" + context.device().name());
        Wait.until(name + " in JMX", () -> SERVER.isRegistered(name));
        return JMX.newMXBeanProxy(SERVER, name, SoftDeviceMXBean.class);
    }

    private void write(int length, int key) throws RdmaException {
        client.queuePair.postSend(new SendWorkRequest().id(1).write(server.region.address(), key)
                .add(client.region, 0, length).set(SendFlag.SIGNALED));
    }

    @Test
    void beanShowsQueuePairsWithTheirPeersAndWhatTheyHaveSent() throws Exception {
        connect();
        int length = 100_000;
        write(length, server.region.rkey());
        client.awaitSuccess(1);
        SoftDeviceMXBean bean = bean();
        assertThat(bean.getGids()).isNotEmpty();
        assertThat(bean.getCapture()).isEmpty();
        assertThat(bean.getQueuePairCount()).isEqualTo(2);
        QueuePairData shown = bean.getQueuePairs().stream()
                .filter(pair -> pair.number() == client.queuePair.number()).findFirst()
                .orElseThrow();
        assertThat(shown.type()).isEqualTo("RC");
        assertThat(shown.state()).isEqualTo("RTS");
        assertThat(shown.peerAddress()).isEqualTo(ADDRESS.getHostAddress());
        assertThat(shown.way()).isEqualTo("tcp");
        assertThat(shown.counters().get("sent_pkts")).isPositive();
        assertThat(bean.getCounters().get("sent_bytes"))
                .isGreaterThanOrEqualTo(Long.valueOf(length));
        client.connected().disconnect();
        client.awaitWord("over");
        server.awaitWord("over");
        assertThat(bean.getQueuePairs()).allSatisfy(pair -> {
            assertThat(pair.state()).isEqualTo("ERR");
            assertThat(pair.peerAddress()).isEmpty();
            assertThat(pair.way()).isEmpty();
        });
    }

    @Test
    void recordingHasTheStatesUpToTheFaultAndTheEventThatTellsIt() throws Exception {
        connect();
        write(100, 0xbad);
        client.await();
        client.awaitWord("over");
        server.awaitWord("over");
        int a = client.queuePair.number();
        int b = server.queuePair.number();
        assertThat(events("QueuePairState", "queuePair", "from", "to", "cause")).contains(
                a + " INIT RTS CONNECTED", b + " INIT RTS CONNECTED",
                a + " RTS ERR TERMINATE received: invalid STag",
                b + " RTS ERR TERMINATE sent: invalid STag");
        assertThat(events("AsyncEvent", "device", "type", "queuePair"))
                .anyMatch(event -> event.startsWith(context.device().name() + " QP_ACCESS_ERROR ")
                        && event.endsWith(" " + b));
    }

    /** The Terminate, which the peer gets, says only that something was wrong on the other side. */
    @Test
    void recordingHasTheStatusOfAFailureOfThisSide() throws Exception {
        connect();
        MemoryRegion gone = client.domain.register(client.memory);
        gone.close();
        client.queuePair.postSend(
                new SendWorkRequest().id(1).send().add(gone, 0, 8).set(SendFlag.SIGNALED));
        client.await();
        server.awaitWord("over");
        assertThat(events("QueuePairState", "queuePair", "from", "to", "cause")).contains(
                client.queuePair.number() + " RTS ERR LOCAL_PROTECTION_ERROR",
                server.queuePair.number()
                        + " RTS ERR TERMINATE received: local catastrophic error");
    }

    @Test
    void recordingHasConnectionsWithBothAddresses() throws Exception {
        InetSocketAddress local;
        InetSocketAddress remote;
        try (CmId listener = CmId.create(PortSpace.TCP); CmId id = CmId.create(PortSpace.TCP)) {
            listener.device(context.device().name());
            listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
            listener.listen(1);
            CompletableFuture<CmId> served = CompletableFuture.supplyAsync(() -> accept(listener));
            remote = listener.localAddress();
            resolve(id, remote);
            id.connect(new ConnectionParameters());
            local = id.localAddress();
            try (CmId accepted = served.get(20, TimeUnit.SECONDS)) {
                id.disconnect();
                accepted.disconnect();
            }
        }
        InetSocketAddress nobody = new InetSocketAddress(ADDRESS, freePort());
        try (CmId id = CmId.create(PortSpace.TCP)) {
            resolve(id, nobody);
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> id.connect(new ConnectionParameters()));
        }
        assertThat(events("Connection", "outcome", "local", "remote"))
                .contains(
                        "ESTABLISHED " + FlightRecording.text(local) + " "
                                + FlightRecording.text(remote),
                        "ESTABLISHED " + FlightRecording.text(remote) + " "
                                + FlightRecording.text(local),
                        "DISCONNECTED " + FlightRecording.text(local) + " "
                                + FlightRecording.text(remote),
                        "DISCONNECTED " + FlightRecording.text(remote) + " "
                                + FlightRecording.text(local))
                .anyMatch(event -> event.startsWith("REJECTED ")
                        && event.endsWith(" " + FlightRecording.text(nobody)));
    }

    private static CmId accept(CmId listener) {
        try {
            CmId id = listener.awaitRequest();
            id.createQueuePair();
            id.accept(new ConnectionParameters());
            return id;
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    private void resolve(CmId id, InetSocketAddress destination) throws RdmaException {
        id.device(context.device().name());
        id.resolveAddress(destination, TIMEOUT);
        id.resolveRoute(TIMEOUT);
        id.createQueuePair();
    }
}
