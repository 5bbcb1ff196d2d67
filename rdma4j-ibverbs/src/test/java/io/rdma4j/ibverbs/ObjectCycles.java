// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a device has to open and to close, each as something that can be done again and again. */
final class ObjectCycles implements AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int PAGE = 4096;
    private static final int DEPTH = 16;
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.192.13.8");

    /** Opens something and closes it. */
    @FunctionalInterface
    interface Cycle {
        void run() throws RdmaException;
    }

    /**
     * A cycle that is run in full, or, since it takes many system calls and threads, a tenth as often.
     *
     * @param isLong whether it is one of those
     */
    record Kind(Cycle cycle, boolean isLong) {}

    private final Map<String, Kind> kinds = new LinkedHashMap<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(3L * PAGE, PAGE);
    private final RdmaDevice device;
    private final InetSocketAddress anyPort;
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final SharedReceiveQueue shared;
    private final CmEventChannel events = CmEventChannel.create();
    private final CmId listener;
    private final AddressHandleAttributes toItself;

    ObjectCycles(RdmaDevice device, InetAddress address) throws RdmaException {
        this.device = device;
        anyPort = new InetSocketAddress(address, 0);
        context = device.open();
        GidEntry gid = context.queryGidTable().getLast();
        toItself = AddressHandleAttributes.to(gid.gid(), gid.index());
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(DEPTH);
        shared = domain.createSharedReceiveQueue(queue());
        listener = CmId.create(events, PortSpace.TCP);
        listener.bindAddress(anyPort);
        listener.listen(DEPTH);
        verbs();
        queuePairs();
        connectionManager();
    }

    private static SharedReceiveQueueInitAttributes queue() {
        return new SharedReceiveQueueInitAttributes().maxRequests(DEPTH);
    }

    /** {@return the cycles by the names of what they open} */
    Map<String, Kind> kinds() {
        return kinds;
    }

    private void add(String name, Cycle cycle) {
        kinds.put(name, new Kind(cycle, false));
    }

    private void addLong(String name, Cycle cycle) {
        kinds.put(name, new Kind(cycle, true));
    }

    private void verbs() {
        add("protection domain", () -> context.allocateProtectionDomain().close());
        add("region of a page", () -> domain
                .register(memory.asSlice(0, PAGE), AccessFlag.LOCAL_WRITE).close());
        add("region across three pages",
                () -> domain.register(memory.asSlice(1, 2 * PAGE + 1), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE).close());
        add("completion queue", () -> context.createCompletionQueue(DEPTH).close());
        add("completion channel with a queue", this::channel);
        add("shared receive queue", () -> domain.createSharedReceiveQueue(queue()).close());
        add("address handle", () -> domain.createAddressHandle(toItself).close());
        for (MemoryWindowType type : MemoryWindowType.values()) {
            add("memory window " + type, () -> domain.allocateMemoryWindow(type).close());
        }
        add("region in memory of its own",
                () -> domain.allocateRegion(PAGE, AccessFlag.LOCAL_WRITE).close());
        add("thread domain", () -> context.allocateThreadDomain().close());
        add("parent domain",
                () -> domain.createParentDomain(new ParentDomainInitAttributes()).close());
        add("device memory", () -> context.allocateDeviceMemory(PAGE, 1).close());
        add("XRC domain", () -> context.openXrcDomain().close());
        addLong("device context", () -> device.open().close());
    }

    private void channel() throws RdmaException {
        try (CompletionChannel channel = CompletionChannel.create();
                CompletionQueue queue = context.createCompletionQueue(DEPTH, channel)) {
            queue.requestNotification();
        }
    }

    private void queuePairs() {
        for (QueuePairType type : QueuePairType.values()) {
            add("queue pair " + type, () -> domain.createQueuePair(queues(type)).close());
        }
        add("queue pair RC with a shared receive queue", () -> domain
                .createQueuePair(queues(QueuePairType.RC).sharedReceiveQueue(shared)).close());
    }

    private QueuePairInitAttributes queues(QueuePairType type) {
        return new QueuePairInitAttributes().type(type).completionQueue(completions);
    }

    private void connectionManager() {
        add("id", () -> CmId.create(events, PortSpace.TCP).close());
        add("listener", this::listen);
        add("resolved id", this::resolve);
        addLong("connection", this::connect);
        addLong("look-up of a datagram service", this::lookUp);
        addLong("multicast group", this::join);
    }

    private void listen() throws RdmaException {
        try (CmId id = CmId.create(events, PortSpace.TCP)) {
            id.bindAddress(anyPort);
            id.listen(1);
        }
    }

    private void resolve() throws RdmaException {
        try (CmId id = CmId.create(events, PortSpace.TCP)) {
            resolve(id);
        }
    }

    private void resolve(CmId id) throws RdmaException {
        id.resolveAddress(listener.localAddress(), LONG);
        expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(LONG);
        expect(CmEventType.ROUTE_RESOLVED).close();
    }

    private void connect() throws RdmaException {
        try (CmId client = CmId.create(events, PortSpace.TCP)) {
            resolve(client);
            client.createQueuePair();
            client.connect(new ConnectionParameters());
            CmId server;
            try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
                server = request.id();
            }
            try (server) {
                server.createQueuePair();
                server.accept(new ConnectionParameters());
                expect(CmEventType.ESTABLISHED).close();
                expect(CmEventType.ESTABLISHED).close();
                client.disconnect();
                expect(CmEventType.DISCONNECTED).close();
                expect(CmEventType.DISCONNECTED).close();
            }
        }
    }

    private void lookUp() throws RdmaException {
        QueuePairInitAttributes datagrams = new QueuePairInitAttributes().type(QueuePairType.UD);
        try (CmId service = CmId.create(events, PortSpace.UDP);
                CmId client = CmId.create(events, PortSpace.UDP)) {
            service.bindAddress(anyPort);
            service.listen(1);
            client.resolveAddress(service.localAddress(), LONG);
            expect(CmEventType.ADDR_RESOLVED).close();
            client.resolveRoute(LONG);
            expect(CmEventType.ROUTE_RESOLVED).close();
            client.createQueuePair(datagrams);
            client.connect(new ConnectionParameters());
            CmId server;
            try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
                server = request.id();
            }
            try (server) {
                server.createQueuePair(datagrams);
                server.accept(new ConnectionParameters());
                expect(CmEventType.ESTABLISHED).close();
            }
        }
    }

    private void join() throws RdmaException {
        try (CmId id = CmId.create(events, PortSpace.UDP)) {
            id.bindAddress(anyPort);
            id.createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD));
            id.joinMulticast(GROUP, null);
            expect(CmEventType.MULTICAST_JOIN).close();
            id.leaveMulticast(GROUP);
        }
    }

    /** {@return the next event, which is of this type} Connections of before may say that their time-wait is over. */
    private CmEvent expect(CmEventType type) throws RdmaException {
        while (true) {
            CmEvent event = events.pollEvent(LONG);
            if (event == null) {
                throw new IllegalStateException("no " + type + " came within " + LONG.toSeconds()
                        + " s");
            }
            if (event.type() == type) {
                return event;
            }
            if (event.type() != CmEventType.TIMEWAIT_EXIT) {
                throw new IllegalStateException(event.description() + " came, not " + type);
            }
            event.close();
        }
    }

    @Override
    public void close() throws RdmaException {
        listener.close();
        events.close();
        shared.close();
        completions.close();
        domain.close();
        context.close();
        arena.close();
    }
}
