// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.net.InetSocketAddress;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two sides that the connection manager connects: the steps up to a connection or a datagram service, and
 * the traffic over it, whose contents are checked on arrival.
 */
final class CmPlayers {
    /** Messages each way. */
    static final int ROUNDS = 10;
    static final Duration RESOLUTION = Duration.ofSeconds(2);

    final CmPlayer active;
    final CmPlayer passive;
    private final Cleanup cleanup;
    private final DeviceUnderTest device;

    CmPlayers(Cleanup cleanup, DeviceUnderTest device) {
        this.cleanup = cleanup;
        this.device = device;
        active = new CmPlayer(cleanup, device, 1);
        passive = new CmPlayer(cleanup, device, 101);
    }

    static QueuePairInitAttributes queues() {
        return new QueuePairInitAttributes();
    }

    static QueuePairInitAttributes datagramQueues() {
        return queues().type(QueuePairType.UD);
    }

    static ConnectionParameters parameters() {
        return new ConnectionParameters();
    }

    // ---------------------------------------------------------------- steps

    /** {@return the device's address with a port of its choice} */
    InetSocketAddress anyPort() throws RdmaException {
        return new InetSocketAddress(device.connectionAddress(), 0);
    }

    CmId listen(PortSpace space) throws RdmaException {
        CmId listener = passive.newId(space);
        listener.bindAddress(anyPort());
        listener.listen(2);
        return listener;
    }

    CmId resolved(PortSpace space, InetSocketAddress address) throws RdmaException {
        CmId id = active.newId(space);
        resolve(id, address);
        return id;
    }

    /** Brings the active side's id up to where it can connect. */
    void resolve(CmId id, InetSocketAddress address) throws RdmaException {
        id.resolveAddress(address, RESOLUTION);
        active.expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(RESOLUTION);
        active.expect(CmEventType.ROUTE_RESOLVED).close();
    }

    CmId requested(CmId listener) throws RdmaException {
        try (CmEvent request = passive.expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(request.listenId()).isSameAs(listener);
            return cleanup.keep(request.id());
        }
    }

    /** Both ends of a connection made by events. */
    record Connection(CmId client, CmId server) {}

    Connection connected() throws RdmaException {
        CmId listener = listen(PortSpace.TCP);
        return connected(resolved(PortSpace.TCP, listener.localAddress()), listener);
    }

    /** Connects an id whose route is resolved to a listener. */
    Connection connected(CmId client, CmId listener) throws RdmaException {
        client.createQueuePair(queues());
        client.connect(parameters());
        CmId server = requested(listener);
        server.createQueuePair(queues());
        server.accept(parameters());
        established();
        return new Connection(client, server);
    }

    void established() throws RdmaException {
        active.expect(CmEventType.ESTABLISHED).close();
        passive.expect(CmEventType.ESTABLISHED).close();
    }

    void disconnect(CmId client) throws RdmaException {
        client.disconnect();
        active.expect(CmEventType.DISCONNECTED).close();
        passive.expect(CmEventType.DISCONNECTED).close();
    }

    // ---------------------------------------------------------------- traffic

    /** Sends messages to and fro, each into a receive of the other. */
    void exchange(CmId client, CmId server) throws RdmaException {
        MemoryRegion ofClient = active.register(client);
        MemoryRegion ofServer = passive.register(server);
        for (int round = 0; round < ROUNDS; round++) {
            send(active, client, ofClient, passive, server, ofServer, round);
            send(passive, server, ofServer, active, client, ofClient, round);
        }
    }

    private static void send(CmPlayer from, CmId sender, MemoryRegion source, CmPlayer to,
            CmId receiver, MemoryRegion target, int round) throws RdmaException {
        byte[] sent = from.written(round);
        receiver.postReceive(round, target, CmPlayer.RECEIVE_AT, CmPlayer.MESSAGE);
        sender.postSend(round, source, 0, CmPlayer.MESSAGE, SendFlag.SIGNALED);
        assertDone(sender.awaitSendCompletion(), round);
        assertDone(receiver.awaitReceiveCompletion(), round);
        assertThat(to.received(0)).isEqualTo(sent);
    }

    /** Sends one datagram. {@return the receiver's completion} */
    static WorkCompletion datagram(CmId sender, MemoryRegion source, AddressHandle path,
            int queuePair, CmId receiver, MemoryRegion target, int round) throws RdmaException {
        receiver.postReceive(round, target, CmPlayer.RECEIVE_AT,
                CmPlayer.MESSAGE + AddressHandle.GLOBAL_ROUTE_LENGTH);
        sender.postDatagram(round, source, 0, CmPlayer.MESSAGE, path, queuePair,
                DatagramParameters.UDP_QKEY, SendFlag.SIGNALED);
        assertDone(sender.awaitSendCompletion(), round);
        WorkCompletion received = receiver.awaitReceiveCompletion();
        assertDone(received, round);
        return received;
    }

    static void assertDone(WorkCompletion completion, long id) {
        assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
        assertThat(completion.id()).isEqualTo(id);
    }
}
