// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.OwnLoopback;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program that opens and closes things again and again, and fails if heap, native memory, files or threads are
 * not as they were. It wants a heap of fixed size, all of it touched, or what it holds of memory would depend on
 * the collector's mood.
 */
final class Repetition {
    private static final Duration LONG = Duration.ofSeconds(30);

    private Repetition() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "queue pairs" -> queuePairs();
            case "other objects" -> otherObjects();
            case "contexts" -> contexts();
            case "connections" -> connections(course -> assertNothingIsLeft(200, 2000, course));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** Does something for a while first, until allocator and JVM have taken what they keep anyway. */
    private static void assertNothingIsLeft(int timesBefore, int times, Race.Course course)
            throws Exception {
        for (int i = 0; i < timesBefore; i++) {
            course.run();
        }
        ProcessResources before = ProcessResources.now();
        for (int i = 0; i < times; i++) {
            course.run();
        }
        before.assertNotBelow(ProcessResources.now());
    }

    private static void queuePairs() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(64)) {
            List<QueuePairType> types = List.of(QueuePairType.RC, QueuePairType.UC,
                    QueuePairType.UD);
            WorkCompletion completion = new WorkCompletion();
            int[] count = {0};
            assertNothingIsLeft(10_000, 10_000, () -> {
                QueuePairType type = types.get(count[0]++ % 3);
                try (QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                        .type(type).completionQueue(completions).capabilities(
                                QueuePairCapabilities.ofDepth(16, 16).withInlineData(1024)))) {
                    QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                            .port(1).pkeyIndex(0);
                    queuePair.modify(type == QueuePairType.UD
                            ? init.qkey(1)
                            : init.accessFlags(AccessFlag.REMOTE_WRITE));
                    queuePair.postReceive(new ReceiveWorkRequest());
                    queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                    assertThat(completions.poll(completion)).isTrue();
                }
            });
        }
    }

    private static void otherObjects() throws Exception {
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find("roce_lo").open()) {
            MemorySegment memory = arena.allocate(4096, 64);
            assertNothingIsLeft(5000, 5000, () -> {
                try (ProtectionDomain domain = context.allocateProtectionDomain();
                        CompletionQueue queue = context.createCompletionQueue(64);
                        MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE);
                        MemoryWindow window = domain
                                .allocateMemoryWindow(MemoryWindowType.TYPE_2);
                        SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                                new SharedReceiveQueueInitAttributes().maxRequests(16))) {
                    shared.post(new ReceiveWorkRequest().add(region, 0, 4096));
                    assertThat(window.rkey()).isNotZero();
                    assertThat(queue.capacity()).isEqualTo(64);
                }
            });
        }
    }

    private static void contexts() throws Exception {
        // The device is closed with each, sockets and thread included.
        assertNothingIsLeft(100, 1000,
                () -> OwnLoopback.open(CmStage.OWN, DeviceOptions.DEFAULT).close());
    }

    /** Repeats something, and asserts that nothing is left of it. */
    interface Repeated {
        void run(Race.Course course) throws Exception;
    }

    /** Repeats to connect and disconnect, while a listener keeps the device open. */
    static void connections(Repeated repeated) throws Exception {
        try (CmEventChannel events = CmEventChannel.create();
                CmId listener = CmId.create(events, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(CmStage.OWN), 0));
            listener.listen(8);
            InetSocketAddress address = listener.localAddress();
            repeated.run(() -> {
                try (CmId client = CmId.create(events, PortSpace.TCP)) {
                    connectAndDisconnect(events, client, address);
                }
            });
        }
    }

    private static void connectAndDisconnect(CmEventChannel events, CmId client,
            InetSocketAddress address) throws RdmaException {
        client.resolveAddress(address, LONG);
        expect(events, CmEventType.ADDR_RESOLVED).close();
        client.resolveRoute(LONG);
        expect(events, CmEventType.ROUTE_RESOLVED).close();
        client.createQueuePair();
        client.connect(new ConnectionParameters());
        CmId server;
        try (CmEvent request = expect(events, CmEventType.CONNECT_REQUEST)) {
            server = request.id();
        }
        try (server) {
            server.createQueuePair();
            server.accept(new ConnectionParameters());
            expect(events, CmEventType.ESTABLISHED).close();
            expect(events, CmEventType.ESTABLISHED).close();
            client.disconnect();
            expect(events, CmEventType.DISCONNECTED).close();
            expect(events, CmEventType.DISCONNECTED).close();
        }
    }

    /** {@return the next event of a type} Connections of before may say that their time-wait is over. */
    private static CmEvent expect(CmEventChannel events, CmEventType type) throws RdmaException {
        while (true) {
            CmEvent event = events.pollEvent(LONG);
            assertThat(event).as("event %s", type).isNotNull();
            if (event.type() == type) {
                return event;
            }
            assertThat(event.type()).isEqualTo(CmEventType.TIMEWAIT_EXIT);
            event.close();
        }
    }
}
