// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

/**
 * Connects by the connection manager, like a program that is independent of the transport: the server listens, the
 * client connects, and each id brings its own queue pair up.
 */
final class CmConnector implements Connector {
    private final Cleanup cleanup;
    private final CmPlayers sides;
    private final CmId listener;
    /** Over iWARP it is TCP that waits. */
    private final boolean hasAcknowledgeTimeout;
    private CmId client;
    private @Nullable CmId server;

    CmConnector(Cleanup cleanup, DeviceUnderTest device) throws RdmaException {
        this.cleanup = cleanup;
        sides = new CmPlayers(cleanup, device);
        listener = sides.listen(PortSpace.TCP);
        hasAcknowledgeTimeout = device.run().profile().transport() != TransportType.IWARP;
        client = newClient();
    }

    private CmId newClient() throws RdmaException {
        return sides.resolved(PortSpace.TCP, listener.localAddress());
    }

    @Override
    public DeviceContext clientContext() {
        return client.context();
    }

    @Override
    public DeviceContext serverContext() {
        return listener.context();
    }

    @Override
    public QueuePair createForClient(Player player, QueuePairInitAttributes attributes)
            throws RdmaException {
        if (server != null) {
            // The first connection has the first id; each further one has its own.
            client = newClient();
            server = null;
        }
        QueuePair queuePair = create(client, player, attributes);
        client.connect(parameters(player.settings));
        return queuePair;
    }

    @Override
    public QueuePair createForServer(Player player, QueuePairInitAttributes attributes)
            throws RdmaException {
        CmId requested = sides.requested(listener);
        server = requested;
        return create(requested, player, attributes);
    }

    private QueuePair create(CmId id, Player player, QueuePairInitAttributes attributes)
            throws RdmaException {
        if (hasAcknowledgeTimeout && player.settings.timeout != PlayerSettings.TIMEOUT) {
            id.ackTimeoutExponent(player.settings.timeout);
        }
        QueuePair queuePair = id.createQueuePair(player.domain, attributes);
        cleanup.keep((AutoCloseable) id::closeQueuePair);
        return queuePair;
    }

    private static ConnectionParameters parameters(PlayerSettings settings) {
        return CmPlayers.parameters().responderResources(settings.readAtomic)
                .initiatorDepth(settings.readAtomic).retryCount(settings.retryCount)
                .rnrRetryCount(settings.rnrRetry);
    }

    @Override
    public void connect(Player ofClient, QueuePair clientQueuePair, Player ofServer,
            QueuePair serverQueuePair) throws RdmaException {
        requested().accept(parameters(ofServer.settings));
        sides.established();
        // The connection does not set the access flags of the peer.
        clientQueuePair.modify(
                new QueuePairAttributes().accessFlags(ofClient.settings.queuePairAccess));
        serverQueuePair.modify(
                new QueuePairAttributes().accessFlags(ofServer.settings.queuePairAccess));
    }

    @Override
    public void reconnect(Player ofClient, Player ofServer) throws RdmaException {
        CmId accepted = requested();
        sides.disconnect(client);
        client.closeQueuePair();
        accepted.closeQueuePair();
        ofClient.queuePair = createForClient(ofClient, ofClient.queuePairAttributes());
        ofServer.queuePair = createForServer(ofServer, ofServer.queuePairAttributes());
        connect(ofClient, ofClient.queuePair, ofServer, ofServer.queuePair);
    }

    private CmId requested() {
        CmId known = server;
        if (known == null) {
            throw new IllegalStateException("the server has no queue pair yet");
        }
        return known;
    }
}
