// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttr;
import io.rdma4j.ibverbs.abi.Layout.GidEntry;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WorkCompletion;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/** An open native device in JMX and in a recording of Java Flight Recorder. */
@Timeout(60)
class ObservedContextTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static final Gid OWN = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
    private static final Gid PEER = Gid.of(InetAddress.ofLiteral("10.0.0.2"));
    private static final int SUCCESS = 0;
    private static final int REMOTE_ACCESS_ERROR = 10;
    private static final int FLUSHED = 5;

    private static final String NAME = "seen0";

    private final FakeDriver driver = new FakeDriver();
    private final ObjectName bean;
    private final Path folder;
    private final NativeContext context;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private QueuePairState kernelState = QueuePairState.RTS;
    private int queryAnswer;

    ObservedContextTest(@TempDir Path folder) throws Exception {
        bean = new ObjectName("io.rdma4j:type=Device,name=" + NAME);
        this.folder = folder;
        driver.name = NAME;
        driver.kernelFolder = folder;
        driver.library.define(VerbsSymbol.QUERY_QP, arguments -> {
            MemorySegment attributes = Native.at(arguments[1], QueuePairAttr.SIZE);
            Native.putInt(attributes, QueuePairAttr.QP_STATE, kernelState.code());
            Native.putInt(attributes, QueuePairAttr.DEST_QP_NUM, 7);
            put(attributes, QueuePairAttr.AH_ATTR + AddressHandleAttr.DGID, PEER);
            Native.putByte(attributes, QueuePairAttr.AH_ATTR + AddressHandleAttr.IS_GLOBAL, 1);
            return queryAnswer;
        });
        driver.library.define(VerbsSymbol.QUERY_DEVICE, arguments -> {
            Native.putByte(Native.at(arguments[1], DeviceAttr.SIZE), DeviceAttr.PHYS_PORT_CNT, 1);
            return 0;
        });
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            Native.putInt(Native.at(arguments[2], PortAttr.SIZE), PortAttr.GID_TBL_LEN, 4);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_GID_TABLE, arguments -> {
            MemorySegment table = Native.at(arguments[1], 2 * GidEntry.SIZE);
            put(table, GidEntry.GID, OWN);
            put(table, GidEntry.SIZE + GidEntry.GID, OWN);
            return 2;
        });
        context = driver.open();
        queue = context.createCompletionQueue(16);
        ProtectionDomain domain = context.allocateProtectionDomain();
        queuePair = domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
    }

    private static void put(MemorySegment structure, long offset, Gid gid) {
        MemorySegment.copy(gid.bytes(), 0, structure, ValueLayout.JAVA_BYTE, offset, 16);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        close();
        driver.close();
        assertThat(SERVER.isRegistered(bean)).isFalse();
        assertThat(System.getProperty("rdma4j.devices", "")).doesNotContain(NAME);
    }

    private void close() throws RdmaException {
        ProtectionDomain domain = queuePair.protectionDomain();
        queuePair.close();
        queue.close();
        domain.close();
        context.close();
    }

    private void connect() throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(1).accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(PEER, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
    }

    // ---------------------------------------------------------------- JMX

    private DeviceMXBean shown() {
        Wait.until("the device is in JMX", () -> SERVER.isRegistered(bean));
        return JMX.newMXBeanProxy(SERVER, bean, DeviceMXBean.class);
    }

    @Test
    void deviceShowsAddressesCountersAndQueuePairs() throws Exception {
        Path counters = Files.createDirectories(folder.resolve("ports/1/hw_counters"));
        Files.writeString(counters.resolve("out_of_buffer"), "3\n");
        Files.writeString(counters.resolve("sent_pkts"), "4\n");
        connect();
        DeviceMXBean shown = shown();
        assertThat(shown.getName()).isEqualTo("seen0");
        assertThat(shown.getGids()).containsExactly("::ffff:10.0.0.1");
        assertThat(shown.getContexts()).isOne();
        assertThat(shown.getCounters()).isEqualTo(Map.of("out_of_buffer", 3L, "sent_pkts", 4L));
        assertThat(context.counters()).isEqualTo(shown.getCounters());
        assertThat(queuePair.counters()).isEmpty();
        assertThat(shown.getQueuePairCount()).isOne();
        assertThat(shown.getQueuePairs()).containsExactly(new QueuePairData(queuePair.number(),
                "RC", "RTS", "10.0.0.2", 7, "", Map.of()));
        Wait.until("rdma4j stat finds the process",
                () -> System.getProperty("rdma4j.devices", "").contains(NAME));
    }

    @Test
    void contextsOfADeviceAreOneBean() throws Exception {
        FakeDriver other = new FakeDriver();
        other.name = NAME;
        try (other; NativeContext second = other.open()) {
            DeviceMXBean shown = shown();
            assertThat(shown.getContexts()).isEqualTo(2);
            assertThat(shown.getQueuePairCount()).isOne();
            assertThat(second.device()).isNotNull();
        }
        assertThat(shown().getContexts()).isOne();
    }

    @Test
    void deviceThatCannotBeAskedShowsWhatItCan() throws Exception {
        queryAnswer = 5;
        DeviceMXBean shown = shown();
        assertThat(shown.getCounters()).isEmpty();
        assertThat(shown.getQueuePairCount()).isOne();
        assertThat(shown.getQueuePairs()).isEmpty();
    }

    // ---------------------------------------------------------------- Java Flight Recorder

    @Test
    void statesAreRecordedUpToTheCompletionThatFailed() throws Exception {
        try (FlightRecording recording = new FlightRecording()) {
            connect();
            queuePair.postSend(new SendWorkRequest().id(1).send());
            queuePair.postSend(new SendWorkRequest().id(2).send());
            complete(0, REMOTE_ACCESS_ERROR);
            complete(1, FLUSHED);
            kernelState = QueuePairState.ERR;
            assertThat(queuePair.query().state()).isEqualTo(QueuePairState.ERR);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            assertThat(states(recording)).containsExactly("RESET INIT MODIFY", "INIT RTR MODIFY",
                    "RTR RTS MODIFY", "RTS ERR REMOTE_ACCESS_ERROR", "ERR RESET MODIFY");
        }
    }

    private void complete(int index, int status) throws RdmaException {
        MemorySegment completion = driver.complete(
                Native.getLong(driver.posted.get(index), SendRequest.WR_ID), status, SUCCESS);
        Native.putInt(completion, WorkCompletion.QP_NUM, queuePair.number());
        io.rdma4j.verbs.WorkCompletion found = new io.rdma4j.verbs.WorkCompletion();
        assertThat(queue.poll(found)).isTrue();
        assertThat(found.status()).isNotEqualTo(WorkCompletionStatus.SUCCESS);
    }

    /** {@return the changes, all of which are of the queue pair} */
    private List<String> states(FlightRecording recording) throws Exception {
        String whose = "seen0 " + queuePair.number() + " ";
        return recording.events(folder, "QueuePairState", "device", "queuePair", "from", "to",
                "cause").stream().map(event -> {
                    assertThat(event).startsWith(whose);
                    return event.substring(whose.length());
                }).toList();
    }

    @Test
    void failureThatNothingExplainsIsRecordedWhenTheDeviceIsAsked() throws Exception {
        try (FlightRecording recording = new FlightRecording()) {
            connect();
            kernelState = QueuePairState.ERR;
            assertThat(queuePair.query().state()).isEqualTo(QueuePairState.ERR);
            assertThat(states(recording)).endsWith("RTS ERR QUERY");
        }
    }

    @Test
    void asynchronousEventsAreRecordedAndExplainTheState() throws Exception {
        try (FlightRecording recording = new FlightRecording()) {
            connect();
            driver.report(AsyncEventType.QP_ACCESS_ERROR, ((NativeQueuePair) queuePair).pointer());
            acknowledgeNext();
            assertThat(states(recording)).endsWith("RTS ERR QP_ACCESS_ERROR");
        }
        try (FlightRecording recording = new FlightRecording()) {
            driver.report(AsyncEventType.QP_FATAL, ((NativeQueuePair) queuePair).pointer());
            acknowledgeNext();
            driver.report(AsyncEventType.PORT_ERROR, 1);
            acknowledgeNext();
            assertThat(recording.events(folder, "AsyncEvent", "device", "type", "queuePair",
                    "port")).containsExactly("seen0 QP_FATAL " + queuePair.number() + " 0",
                            "seen0 PORT_ERROR 0 1");
        }
    }

    private void acknowledgeNext() throws RdmaException {
        Objects.requireNonNull(context.asyncEventChannel().pollEvent(Duration.ofSeconds(20)))
                .acknowledge();
    }
}
