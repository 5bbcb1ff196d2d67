// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.Closeable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A connection of the connection manager between two hosts, by devices of one transport, and a message over it. */
final class ConnectionTrial implements Closeable {
    private static final Duration STEP = Duration.ofSeconds(5);

    private final CmEventChannel events;
    private final CmId id;

    private ConnectionTrial(CmEventChannel events, CmId id) {
        this.events = events;
        this.id = id;
    }

    /**
     * {@return a listener}
     *
     * @param local an address of this machine, whose device is taken
     * @param port where to listen, if it is free
     */
    static ConnectionTrial listen(TransportType transport, InetAddress local, int port)
            throws RdmaException {
        ConnectionTrial trial = bound(transport, local, port);
        try {
            trial.id.listen(1);
            return trial;
        } catch (RdmaException | RuntimeException e) {
            trial.close();
            throw e;
        }
    }

    private static ConnectionTrial bound(TransportType transport, InetAddress local, int port)
            throws RdmaException {
        for (RdmaDevice device : RdmaDevices.list()) {
            if (device.transport() != transport) {
                continue;
            }
            CmEventChannel events = CmEventChannel.create();
            CmId id = CmId.create(events, PortSpace.TCP);
            ConnectionTrial trial = new ConnectionTrial(events, id);
            try {
                id.device(device.name());
                trial.bind(local, port);
                return trial;
            } catch (RdmaException e) {
                trial.close();
                // Not every device has a connection manager, and only one has the address.
                if (e.errno() != Errno.ENODEV && e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
            }
        }
        throw new RdmaException(Errno.ENODEV, "bind address", "no device that speaks "
                + name(transport) + " has the address " + local.getHostAddress());
    }

    private void bind(InetAddress local, int port) throws RdmaException {
        try {
            id.bindAddress(new InetSocketAddress(local, port));
        } catch (RdmaException e) {
            if (e.errno() != Errno.EADDRINUSE || port == 0) {
                throw e;
            }
            id.bindAddress(new InetSocketAddress(local, 0));
        }
    }

    /** {@return what people call a transport whose packets are those of InfiniBand, in UDP} */
    static String name(TransportType transport) {
        return transport == TransportType.INFINIBAND ? "RoCE" : transport.text();
    }

    /** {@return the port of a listener} */
    int port() {
        return id.localPort();
    }

    /** Waits for the peer's connection and its message. */
    void serve(Deadline deadline) throws RdmaException {
        CmId requested = TransferEnd.await(events, CmEventType.CONNECT_REQUEST,
                deadline.atMost(STEP));
        try (requested; TransferEnd end = new TransferEnd(requested)) {
            end.postReceive();
            requested.accept(new ConnectionParameters());
            TransferEnd.await(events, CmEventType.ESTABLISHED, deadline.atMost(STEP));
            end.receive(deadline.atMost(STEP));
            requested.disconnect();
        }
    }

    /**
     * Connects to the peer's listener and sends the message.
     *
     * @throws RdmaException if it does not get there in time
     */
    static void connect(TransportType transport, InetAddress local, InetSocketAddress peer,
            Deadline deadline) throws RdmaException {
        try (ConnectionTrial trial = bound(transport, local, 0)) {
            CmId id = trial.id;
            id.resolveAddress(null, peer, deadline.atMost(STEP));
            TransferEnd.await(trial.events, CmEventType.ADDR_RESOLVED, deadline.atMost(STEP));
            id.resolveRoute(deadline.atMost(STEP));
            TransferEnd.await(trial.events, CmEventType.ROUTE_RESOLVED, deadline.atMost(STEP));
            try (TransferEnd end = new TransferEnd(id)) {
                id.connect(new ConnectionParameters());
                TransferEnd.await(trial.events, CmEventType.ESTABLISHED, deadline.atMost(STEP));
                end.send(deadline.atMost(STEP));
                id.disconnect();
            }
        }
    }

    @Override
    public void close() throws RdmaException {
        try (CmEventChannel _ = events) {
            id.close();
        }
    }
}
