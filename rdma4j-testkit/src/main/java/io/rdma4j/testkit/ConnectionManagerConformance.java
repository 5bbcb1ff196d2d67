// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static io.rdma4j.testkit.CmPlayer.MESSAGE;
import static io.rdma4j.testkit.CmPlayer.RECEIVE_AT;
import static io.rdma4j.testkit.CmPlayers.RESOLUTION;
import static io.rdma4j.testkit.CmPlayers.ROUNDS;
import static io.rdma4j.testkit.CmPlayers.assertDone;
import static io.rdma4j.testkit.CmPlayers.datagram;
import static io.rdma4j.testkit.CmPlayers.datagramQueues;
import static io.rdma4j.testkit.CmPlayers.parameters;
import static io.rdma4j.testkit.CmPlayers.queues;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The connection manager: connections and datagram services, synchronous and by events, refused, over
 * queue pairs of the application's own; multicast groups.
 */
public abstract class ConnectionManagerConformance extends Conformance {
    private CmPlayers players;
    private CmPlayer active;
    private CmPlayer passive;

    /** Called by subclasses. */
    protected ConnectionManagerConformance() {}

    @BeforeEach
    void makePlayers() {
        players = new CmPlayers(this::keep, this);
        active = players.active;
        passive = players.passive;
    }

    // ---------------------------------------------------------------- connections

    @ConformanceCase(after = "test_rdmacm.rdmacm_sync_traffic")
    void synchronousIdsConnectAndExchange() throws Exception {
        CmId listener = passive.newSynchronousId(PortSpace.TCP);
        listener.bindAddress(players.anyPort());
        listener.listen(1);
        InetSocketAddress address = listener.localAddress();
        CmId client = active.newSynchronousId(PortSpace.TCP);
        CompletableFuture<Void> connecting = CompletableFuture.runAsync(() -> {
            try {
                client.resolveAddress(address, RESOLUTION);
                client.resolveRoute(RESOLUTION);
                client.createQueuePair(queues());
                client.connect(parameters());
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        CmId server = listener.pollRequest(LIMIT);
        assertThat(server).isNotNull();
        keep(server).createQueuePair(queues());
        server.accept(parameters());
        connecting.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        players.exchange(client, server);
        client.disconnect();
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_traffic")
    void idsConnectByEventsWithAnAcknowledgementTimeout() throws RdmaException {
        int timeout = 21;
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair(queues());
        client.ackTimeoutExponent(timeout);
        client.connect(parameters());
        CmId server = players.requested(listener);
        server.createQueuePair(queues());
        server.ackTimeoutExponent(timeout);
        server.accept(parameters());
        players.established();
        for (CmId each : List.of(client, server)) {
            QueuePairAttributes known = each.queuePair().query();
            if (isIwarp()) {
                // It is TCP that waits.
                assertThat(known.isSet(QueuePairAttribute.TIMEOUT)).isFalse();
            } else {
                assertThat(known.ackTimeoutExponent()).isEqualTo(timeout);
            }
        }
        players.exchange(client, server);
        players.disconnect(client);
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_reject_traffic")
    void rejectionCarriesBytesOfTheApplication() throws RdmaException {
        byte[] reason = "not today".getBytes(StandardCharsets.US_ASCII);
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        client.createQueuePair(queues());
        client.connect(parameters());
        players.requested(listener).reject(reason);
        try (CmEvent rejected = active.expect(CmEventType.REJECTED)) {
            assertThat(rejected.id()).isSameAs(client);
            assertThat(rejected.privateData()).startsWith(reason);
            // An error's number over iWARP, a reason's elsewhere.
            assertThat(rejected.status()).isEqualTo(isIwarp()
                    ? -Errno.ECONNRESET.number()
                    : RejectReason.CONSUMER_DEFINED.code());
        }
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_read")
    void connectedIdReadsThePeersMemory() throws RdmaException {
        CmPlayers.Connection connection = players.connected();
        MemoryRegion target = active.register(connection.client());
        MemoryRegion source = passive.register(connection.server());
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = passive.written(round);
            connection.client().postRead(round, target, RECEIVE_AT, MESSAGE, source.address(),
                    source.rkey(), SendFlag.SIGNALED);
            assertDone(connection.client().awaitSendCompletion(), round);
            assertThat(active.received(0)).isEqualTo(bytes);
        }
        players.disconnect(connection.client());
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_write")
    void connectedIdWritesThePeersMemory() throws RdmaException {
        CmPlayers.Connection connection = players.connected();
        MemoryRegion source = active.register(connection.client());
        MemoryRegion target = passive.register(connection.server());
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = active.written(round);
            connection.client().postWrite(round, source, 0, MESSAGE, target.address() + RECEIVE_AT,
                    target.rkey(), SendFlag.SIGNALED);
            assertDone(connection.client().awaitSendCompletion(), round);
            if (isIwarp()) {
                // It has been handed over to be sent.
                Wait.until("the bytes are in the peer's memory",
                        () -> Arrays.equals(passive.received(0), bytes));
            }
            assertThat(passive.received(0)).isEqualTo(bytes);
        }
        players.disconnect(connection.client());
    }

    @ConformanceCase
    void probeIsAnsweredByThePeersDeviceAlone() throws RdmaException {
        CmPlayers.Connection connection = players.connected();
        for (int round = 0; round < ROUNDS; round++) {
            // The server has posted no receive, and nobody there polls.
            connection.client().postProbe(round);
            assertDone(connection.client().awaitSendCompletion(), round);
        }
        assertThat(connection.server().pollReceiveCompletion(Duration.ZERO)).isNull();
        players.exchange(connection.client(), connection.server());
        players.disconnect(connection.client());
    }

    // ---------------------------------------------------------------- queue pairs of one's own

    /** A queue pair that the id does not know. */
    private final class OwnQueues {
        final CompletionQueue completions;
        final QueuePair queuePair;
        final MemoryRegion region;

        OwnQueues(DeviceContext context, CmPlayer side) throws RdmaException {
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

    private static void send(CmPlayer from, OwnQueues sender, CmPlayer to, OwnQueues receiver,
            int round)
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

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_traffic_external_qp")
    void idsConnectQueuePairsOfTheApplication() throws RdmaException {
        CmId listener = players.listen(PortSpace.TCP);
        CmId client = players.resolved(PortSpace.TCP, listener.localAddress());
        OwnQueues ofClient = new OwnQueues(client.context(), active);
        if (isIwarp()) {
            // The connection does the rest.
            ofClient.bringUp(client, QueuePairState.INIT);
        }
        client.connect(parameters().queuePairNumber(ofClient.queuePair.number()));

        CmId server = players.requested(listener);
        OwnQueues ofServer = new OwnQueues(server.context(), passive);
        ofServer.bringUp(server, QueuePairState.INIT, QueuePairState.RTR, QueuePairState.RTS);
        server.accept(parameters().queuePairNumber(ofServer.queuePair.number()));

        if (isIwarp()) {
            active.expect(CmEventType.ESTABLISHED).close();
        } else {
            active.expect(CmEventType.CONNECT_RESPONSE).close();
            ofClient.bringUp(client, QueuePairState.INIT, QueuePairState.RTR,
                    QueuePairState.RTS);
            client.establish();
        }
        passive.expect(CmEventType.ESTABLISHED).close();

        for (int round = 0; round < ROUNDS; round++) {
            send(active, ofClient, passive, ofServer, round);
            send(passive, ofServer, active, ofClient, round);
        }
        players.disconnect(client);
    }

    // ---------------------------------------------------------------- datagrams

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_udp_traffic")
    void datagramServiceIsFoundAndAnswers() throws RdmaException {
        CmId listener = players.listen(PortSpace.UDP);
        exchangeDatagrams(players.resolved(PortSpace.UDP, listener.localAddress()), listener);
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_resolve_addrinfo")
    void namesAndServicesAreResolvedByEvents() throws RdmaException {
        String node = connectionAddress().getHostAddress();
        PortSpace space = isIwarp() ? PortSpace.TCP : PortSpace.UDP;
        AddressInfo.Hints hints = new AddressInfo.Hints().portSpace(space);
        CmId listener = passive.newId(space);
        listener.resolveAddressInfo(node, null,
                new AddressInfo.Hints(hints).set(AddressInfo.Flag.PASSIVE));
        passive.expect(CmEventType.ADDRINFO_RESOLVED).close();
        InetSocketAddress source = listener.queryAddressInfo().getFirst().source();
        listener.bindAddress(Objects.requireNonNull(source));
        listener.listen(2);

        CmId client = active.newId(space);
        client.resolveAddressInfo(node, Integer.toString(listener.localPort()), hints);
        active.expect(CmEventType.ADDRINFO_RESOLVED).close();
        List<AddressInfo> found = client.queryAddressInfo();
        assertThat(found).isNotEmpty().allMatch(
                each -> !each.isPassive() && each.queuePairType() == (isIwarp()
                        ? QueuePairType.RC
                        : QueuePairType.UD));
        InetSocketAddress destination = Objects.requireNonNull(found.getFirst().destination());
        assertThat(destination).isEqualTo(listener.localAddress());
        players.resolve(client, destination);
        if (isIwarp()) {
            CmPlayers.Connection connection = players.connected(client, listener);
            players.exchange(connection.client(), connection.server());
        } else {
            exchangeDatagrams(client, listener);
        }
    }

    /** Looks the service up, sends to it, and lets it answer to where the datagrams came from. */
    private void exchangeDatagrams(CmId client, CmId listener) throws RdmaException {
        client.createQueuePair(datagramQueues());
        client.connect(parameters());
        CmId server = players.requested(listener);
        server.createQueuePair(datagramQueues());
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
            assertThat(request.sourceQueuePairNumber()).isEqualTo(client.queuePair().number());

            byte[] answer = passive.written(round);
            try (AddressHandle back = server.protectionDomain().createAddressHandle(Player.PORT,
                    request, passive.memory.asSlice(RECEIVE_AT))) {
                datagram(server, ofServer, back, request.sourceQueuePairNumber(), client, ofClient,
                        round);
            }
            assertThat(active.received(AddressHandle.GLOBAL_ROUTE_LENGTH)).isEqualTo(answer);
        }
    }

    // ---------------------------------------------------------------- multicast groups

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_multicast_traffic")
    void membersOfAGroupReceiveWhatIsSentToIt() throws RdmaException {
        CmId receiver = joining(passive);
        receiver.joinMulticast(multicastAddress(), null);
        CmId sender = joining(active);
        sender.joinMulticast(multicastAddress(), this);
        multicast(sender, receiver);
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_ex_multicast_traffic")
    void groupIsJoinedWithAChoiceOfMembership() throws RdmaException {
        CmId receiver = joining(passive);
        receiver.joinMulticast(multicastAddress(), MulticastMembership.FULL_MEMBER, null);
        CmId sender = joining(active);
        sender.joinMulticast(multicastAddress(), MulticastMembership.FULL_MEMBER, this);
        multicast(sender, receiver);
    }

    @ConformanceCase(after = "test_rdmacm.rdmacm_async_ex_leave_multicast_traffic")
    void whoHasLeftAGroupReceivesNoMore() throws RdmaException {
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

    private CmId joining(CmPlayer side) throws RdmaException {
        CmId id = side.newId(PortSpace.UDP);
        id.bindAddress(players.anyPort());
        id.resolveAddress(new InetSocketAddress(multicastAddress(), 0), RESOLUTION);
        side.expect(CmEventType.ADDR_RESOLVED).close();
        id.createQueuePair(datagramQueues());
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
            assertThat(received.sourceQueuePairNumber()).isEqualTo(sender.queuePair().number());
            assertThat(passive.received(AddressHandle.GLOBAL_ROUTE_LENGTH)).isEqualTo(sent);
        }
        return service;
    }
}
