// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

/** Connects by attributes, as a test of verbs alone does: each side gets the other's GID, PSN and number. */
final class HandConnector implements Connector {
    private final DeviceContext clientContext;
    private final DeviceContext serverContext;

    /** The caller closes both contexts. */
    HandConnector(DeviceContext clientContext, DeviceContext serverContext) {
        this.clientContext = clientContext;
        this.serverContext = serverContext;
    }

    @Override
    public DeviceContext clientContext() {
        return clientContext;
    }

    @Override
    public DeviceContext serverContext() {
        return serverContext;
    }

    @Override
    public QueuePair createForClient(Player client, QueuePairInitAttributes attributes)
            throws RdmaException {
        return client.cleanup.keep(client.domain.createQueuePair(attributes));
    }

    @Override
    public QueuePair createForServer(Player server, QueuePairInitAttributes attributes)
            throws RdmaException {
        return server.cleanup.keep(server.domain.createQueuePair(attributes));
    }

    @Override
    public void connect(Player client, QueuePair ofClient, Player server, QueuePair ofServer)
            throws RdmaException {
        bringUp(client, ofClient, server, ofServer);
        bringUp(server, ofServer, client, ofClient);
    }

    @Override
    public void reconnect(Player client, Player server) throws RdmaException {
        QueuePairAttributes reset = new QueuePairAttributes().state(QueuePairState.RESET);
        client.queuePair.modify(reset);
        server.queuePair.modify(reset);
        connect(client, client.queuePair, server, server.queuePair);
    }

    private static void bringUp(Player own, QueuePair ofOwn, Player peer, QueuePair ofPeer)
            throws RdmaException {
        PlayerSettings settings = own.settings;
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                .port(Player.PORT).pkeyIndex(0);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes send = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(own.firstPsn);
        if (settings.type == QueuePairType.UD) {
            init.qkey(Player.QKEY);
        } else {
            init.accessFlags(settings.queuePairAccess);
            receive.addressVector(own.pathTo(peer)).pathMtu(pathMtu(own))
                    .destinationQueuePairNumber(ofPeer.number()).receivePsn(peer.firstPsn);
        }
        if (settings.type == QueuePairType.RC) {
            receive.maxDestinationReadAtomic(settings.readAtomic)
                    .minRnrTimerCode(settings.minRnrTimer);
            send.ackTimeoutExponent(settings.timeout).retryCount(settings.retryCount)
                    .rnrRetry(settings.rnrRetry).maxReadAtomic(settings.readAtomic);
        }
        ofOwn.modify(init);
        ofOwn.modify(receive);
        ofOwn.modify(send);
    }

    private static Mtu pathMtu(Player own) throws RdmaException {
        return Mtu.min(Mtu.MTU_1024, own.context.queryPort(Player.PORT).activeMtu());
    }
}
