package io.rdma4j.testkit;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/** The connection manager: connections, synchronous and by events, and refused ones. */
public abstract class ConnectionManagerConformance extends Conformance {
    private static final Duration RESOLUTION = Duration.ofSeconds(2);
    private static final int ROUNDS = 10;
    private static final int MESSAGE = 1000;
    private static final int RECEIVE_AT = 2048;
    private static final int MEMORY = 4096;

    /** Called by subclasses. */
    protected ConnectionManagerConformance() {}

    /** One side with its events and its memory. */
    private final class Side {
        final EventChannel events = keep(EventChannel.create());
        final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
        private final byte fill;

        Side(int fill) {
            this.fill = (byte) fill;
        }

        CmId newId(PortSpace space) throws RdmaException {
            return keep(CmId.create(events, space));
        }

        CmEvent take() throws RdmaException {
            CmEvent event = events.pollEvent(LIMIT);
            if (event == null) {
                return fail("no event came");
            }
            return event;
        }

        /** Takes the next event, which must be of a type. The caller closes it. */
        CmEvent expect(CmEventType type) throws RdmaException {
            CmEvent event = take();
            assertThat(event.type()).as(event.toString()).isEqualTo(type);
            return event;
        }

        MemoryRegion register(CmId id) throws RdmaException {
            return register(id.protectionDomain());
        }

        MemoryRegion register(ProtectionDomain domain) throws RdmaException {
            return keep(domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE));
        }

        byte[] written(int round) {
            byte[] bytes = new byte[MESSAGE];
            Arrays.fill(bytes, (byte) (fill + round));
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, MESSAGE);
            return bytes;
        }

        byte[] received(int header) {
            byte[] bytes = new byte[MESSAGE];
            MemorySegment.copy(memory, RECEIVE_AT + header, MemorySegment.ofArray(bytes), 0,
                    MESSAGE);
            return bytes;
        }
    }

    private final Side active = new Side(1);
    private final Side passive = new Side(101);

    // ---------------------------------------------------------------- steps

    private InetSocketAddress anyPort() throws RdmaException {
        return new InetSocketAddress(connectionAddress(), 0);
    }

    private CmId listen(PortSpace space) throws RdmaException {
        CmId listener = passive.newId(space);
        listener.bindAddress(anyPort());
        listener.listen(2);
        return listener;
    }

    private CmId resolved(PortSpace space, InetSocketAddress address) throws RdmaException {
        CmId id = active.newId(space);
        id.resolveAddress(address, RESOLUTION);
        active.expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(RESOLUTION);
        active.expect(CmEventType.ROUTE_RESOLVED).close();
        return id;
    }

    private CmId requested(CmId listener) throws RdmaException {
        try (CmEvent request = passive.expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(request.listenId()).isSameAs(listener);
            return keep(request.id());
        }
    }

    private static QueuePairInitAttributes queues() {
        return new QueuePairInitAttributes();
    }

    private static ConnectionParameters parameters() {
        return new ConnectionParameters();
    }

    /** Both ends of a connection made by events. */
    private record Connection(CmId client, CmId server) {}

    private Connection connected() throws RdmaException {
        CmId listener = listen(PortSpace.TCP);
        CmId client = resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair(null, queues());
        client.connect(parameters());
        CmId server = requested(listener);
        server.createQueuePair(null, queues());
        server.accept(parameters());
        active.expect(CmEventType.ESTABLISHED).close();
        passive.expect(CmEventType.ESTABLISHED).close();
        return new Connection(client, server);
    }

    private void disconnect(Connection connection) throws RdmaException {
        connection.client.disconnect();
        active.expect(CmEventType.DISCONNECTED).close();
        passive.expect(CmEventType.DISCONNECTED).close();
    }

    // ---------------------------------------------------------------- traffic

    private void exchange(CmId client, CmId server) throws RdmaException {
        MemoryRegion ofClient = active.register(client);
        MemoryRegion ofServer = passive.register(server);
        for (int round = 0; round < ROUNDS; round++) {
            send(active, client, ofClient, passive, server, ofServer, round);
            send(passive, server, ofServer, active, client, ofClient, round);
        }
    }

    private static void send(Side from, CmId sender, MemoryRegion source, Side to, CmId receiver,
            MemoryRegion target, int round) throws RdmaException {
        byte[] sent = from.written(round);
        receiver.postReceive(round, target, RECEIVE_AT, MESSAGE);
        sender.postSend(round, source, 0, MESSAGE, SendFlag.SIGNALED);
        assertDone(sender.awaitSendCompletion(), round);
        assertDone(receiver.awaitReceiveCompletion(), round);
        assertThat(to.received(0)).isEqualTo(sent);
    }

    private static void assertDone(WorkCompletion completion, long id) {
        assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
        assertThat(completion.id()).isEqualTo(id);
    }

    // ---------------------------------------------------------------- connections

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_sync_traffic")
    void synchronousIdsConnectAndExchange() throws Exception {
        CmId listener = keep(CmId.create(PortSpace.TCP));
        listener.bindAddress(anyPort());
        listener.listen(1);
        InetSocketAddress address = listener.localAddress();
        CmId client = keep(CmId.create(PortSpace.TCP));
        CompletableFuture<Void> connecting = CompletableFuture.runAsync(() -> {
            try {
                client.resolveAddress(address, RESOLUTION);
                client.resolveRoute(RESOLUTION);
                client.createQueuePair(null, queues());
                client.connect(parameters());
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        CmId server = listener.pollRequest(LIMIT);
        assertThat(server).isNotNull();
        keep(server).createQueuePair(null, queues());
        server.accept(parameters());
        connecting.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        exchange(client, server);
        client.disconnect();
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_reject_traffic")
    void rejectionCarriesBytesOfTheApplication() throws RdmaException {
        byte[] reason = "not today".getBytes(StandardCharsets.US_ASCII);
        CmId listener = listen(PortSpace.TCP);
        CmId client = resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair(null, queues());
        client.connect(parameters());
        requested(listener).reject(reason);
        try (CmEvent rejected = active.expect(CmEventType.REJECTED)) {
            assertThat(rejected.id()).isSameAs(client);
            assertThat(rejected.privateData()).startsWith(reason);
            assertThat(rejected.status()).isPositive();
        }
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_read")
    void connectedIdReadsThePeersMemory() throws RdmaException {
        Connection connection = connected();
        MemoryRegion target = active.register(connection.client);
        MemoryRegion source = passive.register(connection.server);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = passive.written(round);
            connection.client.postRead(round, target, RECEIVE_AT, MESSAGE, source.address(),
                    source.rkey(), SendFlag.SIGNALED);
            assertDone(connection.client.awaitSendCompletion(), round);
            assertThat(active.received(0)).isEqualTo(bytes);
        }
        disconnect(connection);
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_write")
    void connectedIdWritesThePeersMemory() throws RdmaException {
        Connection connection = connected();
        MemoryRegion source = active.register(connection.client);
        MemoryRegion target = passive.register(connection.server);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = active.written(round);
            connection.client.postWrite(round, source, 0, MESSAGE, target.address() + RECEIVE_AT,
                    target.rkey(), SendFlag.SIGNALED);
            assertDone(connection.client.awaitSendCompletion(), round);
            assertThat(passive.received(0)).isEqualTo(bytes);
        }
        disconnect(connection);
    }
}
