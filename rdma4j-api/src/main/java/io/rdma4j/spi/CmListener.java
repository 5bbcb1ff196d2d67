// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.ConnectionParameters;

import java.net.InetSocketAddress;

/** A place where requests for connections, or for a datagram service, arrive. */
public interface CmListener {
    /** Stops listening; requests not yet answered are rejected. Idempotent. */
    void close();

    /** Receives requests for connections. */
    interface Handler extends UnknownEvents {
        /**
         * A request arrived.
         *
         * @param via the device it came by
         * @param request the connection to accept or reject
         * @param local the address and port it came to
         * @param peer the address and port it came from
         * @param parameters what the peer asked for, with its private data
         * @return the handler of its events
         */
        CmConnection.Handler onRequest(CmContext via, CmConnection request,
                InetSocketAddress local, InetSocketAddress peer, ConnectionParameters parameters);
    }
}
