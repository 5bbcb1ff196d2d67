// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;

/**
 * Makes the queue pairs of two players and connects them.
 *
 * <p>A connection is made in three steps, in this order, which the connection manager requires: the client's
 * queue pair, the server's, and then both are brought up.
 */
interface Connector {
    /** {@return the device that the client is on, open} */
    DeviceContext clientContext();

    /** {@return the device that the server is on, open} */
    DeviceContext serverContext();

    /** Begins a connection with the client's queue pair. */
    QueuePair createForClient(Player client, QueuePairInitAttributes attributes)
            throws RdmaException;

    /** Creates the server's queue pair. */
    QueuePair createForServer(Player server, QueuePairInitAttributes attributes)
            throws RdmaException;

    /** Brings both queue pairs up to where they can send. */
    void connect(Player client, QueuePair ofClient, Player server, QueuePair ofServer)
            throws RdmaException;

    /**
     * Makes the players' connection anew after a failure. What is left in their completion queues is theirs to
     * take.
     */
    void reconnect(Player client, Player server) throws RdmaException;
}
