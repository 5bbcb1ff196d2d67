package io.rdma4j.testkit;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The connection manager: connections and datagram services, synchronous and by events, refused, over
 * queue pairs of the application's own; multicast groups.
 */
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

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_traffic")
    void idsConnectByEventsWithAnAcknowledgementTimeout() throws RdmaException {
        int timeout = 21;
        CmId listener = listen(PortSpace.TCP);
        CmId client = resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair(null, queues());
        client.acknowledgeTimeout(timeout);
        client.connect(parameters());
        CmId server = requested(listener);
        server.createQueuePair(null, queues());
        server.acknowledgeTimeout(timeout);
        server.accept(parameters());
        active.expect(CmEventType.ESTABLISHED).close();
        passive.expect(CmEventType.ESTABLISHED).close();
        assertThat(client.queuePair().query().timeout()).isEqualTo(timeout);
        assertThat(server.queuePair().query().timeout()).isEqualTo(timeout);
        exchange(client, server);
        disconnect(new Connection(client, server));
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

    // ---------------------------------------------------------------- queue pairs of one's own

    /** A queue pair that the id does not know. */
    private final class OwnQueues {
        final CompletionQueue completions;
        final QueuePair queuePair;
        final MemoryRegion region;

        OwnQueues(DeviceContext context, Side side) throws RdmaException {
            ProtectionDomain domain = keep(context.allocateProtectionDomain());
            completions = keep(context.createCompletionQueue(32));
            queuePair = keep(domain.createQueuePair(queues().completionQueue(completions)));
            region = side.register(domain);
        }

        void bringUp(CmId id, QueuePairState... states) throws RdmaException {
            for (QueuePairState state : states) {
                queuePair.modify(id.initQueuePairAttributes(state));
            }
        }

        WorkCompletion await() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            long endNs = System.nanoTime() + LIMIT.toNanos();
            while (!completions.poll(completion)) {
                if (System.nanoTime() - endNs > 0) {
                    return fail("no completion within %s; the queue pair is in state %s", LIMIT,
                            queuePair.state());
                }
                Thread.onSpinWait();
            }
            return completion;
        }
    }

    private static void send(Side from, OwnQueues sender, Side to, OwnQueues receiver, int round)
            throws RdmaException {
        byte[] sent = from.written(round);
        receiver.queuePair.postReceive(
                new ReceiveWorkRequest().id(1000 + round).add(receiver.region, RECEIVE_AT,
                        MESSAGE));
        sender.queuePair.postSend(new SendWorkRequest().id(round).send()
                .add(sender.region, 0, MESSAGE).set(SendFlag.SIGNALED));
        assertDone(sender.await(), round);
        assertDone(receiver.await(), 1000 + round);
        assertThat(to.received(0)).isEqualTo(sent);
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_traffic_external_qp")
    void idsConnectQueuePairsOfTheApplication() throws RdmaException {
        CmId listener = listen(PortSpace.TCP);
        CmId client = resolved(PortSpace.TCP, listener.localAddress());
        OwnQueues ofClient = new OwnQueues(client.context(), active);
        client.connect(parameters().queuePairNumber(ofClient.queuePair.number()));

        CmId server = requested(listener);
        OwnQueues ofServer = new OwnQueues(server.context(), passive);
        ofServer.bringUp(server, QueuePairState.INIT, QueuePairState.RTR, QueuePairState.RTS);
        server.accept(parameters().queuePairNumber(ofServer.queuePair.number()));

        active.expect(CmEventType.CONNECT_RESPONSE).close();
        ofClient.bringUp(client, QueuePairState.INIT, QueuePairState.RTR, QueuePairState.RTS);
        client.establish();
        passive.expect(CmEventType.ESTABLISHED).close();

        for (int round = 0; round < ROUNDS; round++) {
            send(active, ofClient, passive, ofServer, round);
            send(passive, ofServer, active, ofClient, round);
        }
        disconnect(new Connection(client, server));
    }

    // ---------------------------------------------------------------- datagrams

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_udp_traffic")
    void datagramServiceIsFoundAndAnswers() throws RdmaException {
        CmId listener = listen(PortSpace.UDP);
        exchangeDatagrams(resolved(PortSpace.UDP, listener.localAddress()), listener);
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_resolve_addrinfo")
    void namesAndServicesAreResolvedByEvents() throws RdmaException {
        String node = connectionAddress().getHostAddress();
        AddressInfo.Hints hints = new AddressInfo.Hints().portSpace(PortSpace.UDP);
        CmId listener = passive.newId(PortSpace.UDP);
        listener.resolveAddressInfo(node, null,
                new AddressInfo.Hints(hints).set(AddressInfo.Flag.PASSIVE));
        passive.expect(CmEventType.ADDRINFO_RESOLVED).close();
        InetSocketAddress source = listener.queryAddressInfo().getFirst().source();
        listener.bindAddress(Objects.requireNonNull(source));
        listener.listen(2);

        CmId client = active.newId(PortSpace.UDP);
        client.resolveAddressInfo(node, Integer.toString(listener.sourcePort()), hints);
        active.expect(CmEventType.ADDRINFO_RESOLVED).close();
        List<AddressInfo> found = client.queryAddressInfo();
        assertThat(found).isNotEmpty().allMatch(
                each -> !each.isPassive() && each.queuePairType() == QueuePairType.UD);
        InetSocketAddress destination = Objects.requireNonNull(found.getFirst().destination());
        assertThat(destination).isEqualTo(listener.localAddress());
        client.resolveAddress(destination, RESOLUTION);
        active.expect(CmEventType.ADDR_RESOLVED).close();
        client.resolveRoute(RESOLUTION);
        active.expect(CmEventType.ROUTE_RESOLVED).close();
        exchangeDatagrams(client, listener);
    }

    /** Looks the service up, sends to it, and lets it answer to where the datagrams came from. */
    private void exchangeDatagrams(CmId client, CmId listener) throws RdmaException {
        client.createQueuePair(null, datagramQueues());
        client.connect(parameters());
        CmId server = requested(listener);
        server.createQueuePair(null, datagramQueues());
        server.accept(parameters().queuePairNumber(server.queuePair().number()));
        DatagramParameters service;
        try (CmEvent established = active.expect(CmEventType.ESTABLISHED)) {
            service = Objects.requireNonNull(established.datagram());
        }
        assertThat(service.queuePairNumber()).isEqualTo(server.queuePair().number());

        MemoryRegion ofClient = active.register(client);
        MemoryRegion ofServer = passive.register(server);
        AddressHandle toServer = keep(
                client.protectionDomain().createAddressHandle(service.path()));
        for (int round = 0; round < ROUNDS; round++) {
            byte[] sent = active.written(round);
            WorkCompletion request = datagram(client, ofClient, toServer,
                    service.queuePairNumber(), server, ofServer, round);
            assertThat(passive.received(AddressHandle.GLOBAL_ROUTE_LENGTH)).isEqualTo(sent);
            assertThat(request.sourceQueuePair()).isEqualTo(client.queuePair().number());

            byte[] answer = passive.written(round);
            try (AddressHandle back = server.protectionDomain().createAddressHandle(Player.PORT,
                    request, passive.memory.asSlice(RECEIVE_AT))) {
                datagram(server, ofServer, back, request.sourceQueuePair(), client, ofClient,
                        round);
            }
            assertThat(active.received(AddressHandle.GLOBAL_ROUTE_LENGTH)).isEqualTo(answer);
        }
    }

    private static QueuePairInitAttributes datagramQueues() {
        return queues().type(QueuePairType.UD);
    }

    /** Sends one datagram. {@return the receiver's completion} */
    private static WorkCompletion datagram(CmId sender, MemoryRegion source, AddressHandle path,
            int queuePair, CmId receiver, MemoryRegion target, int round) throws RdmaException {
        receiver.postReceive(round, target, RECEIVE_AT,
                MESSAGE + AddressHandle.GLOBAL_ROUTE_LENGTH);
        sender.postDatagram(round, source, 0, MESSAGE, path, queuePair, SendFlag.SIGNALED);
        assertDone(sender.awaitSendCompletion(), round);
        WorkCompletion received = receiver.awaitReceiveCompletion();
        assertDone(received, round);
        return received;
    }

    // ---------------------------------------------------------------- multicast groups

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_multicast_traffic")
    void membersOfAGroupHearWhatIsSentToIt() throws RdmaException {
        CmId receiver = joining(passive);
        receiver.joinMulticast(multicastAddress(), null);
        CmId sender = joining(active);
        sender.joinMulticast(multicastAddress(), this);
        multicast(sender, receiver);
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_ex_multicast_traffic")
    void groupIsJoinedWithAChoiceOfMembership() throws RdmaException {
        CmId receiver = joining(passive);
        receiver.joinMulticast(multicastAddress(), MulticastMembership.FULL_MEMBER, null);
        CmId sender = joining(active);
        sender.joinMulticast(multicastAddress(), MulticastMembership.FULL_MEMBER, this);
        multicast(sender, receiver);
    }

    @ConformanceCase(file = "test_rdmacm", name = "rdmacm_async_ex_leave_multicast_traffic")
    void whoHasLeftAGroupHearsNoMore() throws RdmaException {
        InetAddress group = multicastAddress();
        CmId leaver = joining(passive);
        leaver.joinMulticast(group, MulticastMembership.FULL_MEMBER, null);
        CmId sender = joining(active);
        sender.joinMulticast(group, MulticastMembership.FULL_MEMBER, this);
        DatagramParameters service = multicast(sender, leaver);

        leaver.leaveMulticast(group);
        assertRefused(() -> leaver.leaveMulticast(group), Errno.EADDRNOTAVAIL);
        // The one that stays tells when the datagram has arrived wherever it should.
        MemoryRegion ofLeaver = passive.register(leaver);
        MemoryRegion ofSender = active.register(sender);
        leaver.postReceive(77, ofLeaver, RECEIVE_AT, MESSAGE + AddressHandle.GLOBAL_ROUTE_LENGTH);
        AddressHandle path = keep(
                sender.protectionDomain().createAddressHandle(service.path()));
        for (int round = 0; round < ROUNDS; round++) {
            datagram(sender, ofSender, path, service.queuePairNumber(), sender, ofSender, round);
        }
        assertThat(leaver.queuePair().receiveCompletionQueue().poll(new WorkCompletion()))
                .isFalse();
    }

    private CmId joining(Side side) throws RdmaException {
        CmId id = side.newId(PortSpace.UDP);
        id.bindAddress(anyPort());
        id.resolveAddress(new InetSocketAddress(multicastAddress(), 0), RESOLUTION);
        side.expect(CmEventType.ADDR_RESOLVED).close();
        id.createQueuePair(null, datagramQueues());
        return id;
    }

    /** Sends to a group that both have joined. {@return where the group is} */
    private DatagramParameters multicast(CmId sender, CmId receiver) throws RdmaException {
        passive.expect(CmEventType.MULTICAST_JOIN).close();
        DatagramParameters service;
        try (CmEvent joined = active.expect(CmEventType.MULTICAST_JOIN)) {
            assertThat(joined.joinContext()).isSameAs(this);
            service = Objects.requireNonNull(joined.datagram());
        }
        assertThat(service.queuePairNumber()).isEqualTo(DatagramParameters.MULTICAST_QUEUE_PAIR);
        MemoryRegion ofSender = active.register(sender);
        MemoryRegion ofReceiver = passive.register(receiver);
        AddressHandle path = keep(
                sender.protectionDomain().createAddressHandle(service.path()));
        for (int round = 0; round < ROUNDS; round++) {
            byte[] sent = active.written(round);
            WorkCompletion received = datagram(sender, ofSender, path, service.queuePairNumber(),
                    receiver, ofReceiver, round);
            assertThat(received.sourceQueuePair()).isEqualTo(sender.queuePair().number());
            assertThat(passive.received(AddressHandle.GLOBAL_ROUTE_LENGTH)).isEqualTo(sent);
        }
        return service;
    }
}
