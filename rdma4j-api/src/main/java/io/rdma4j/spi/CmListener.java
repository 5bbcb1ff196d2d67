package io.rdma4j.spi;

import io.rdma4j.cm.ConnectionParameters;

import java.net.InetSocketAddress;

/** A place where connection requests arrive. */
public interface CmListener {
    /** Stops listening; requests not yet answered are rejected. Idempotent. */
    void close();

    /** Receives requests. */
    interface Handler {
        /**
         * A request arrived.
         *
         * @param request the connection to accept or reject
         * @param local the address and port it came to
         * @param peer the address and port it came from
         * @param parameters what the peer asked for, with its private data
         * @return who hears what becomes of it
         */
        CmConnection.Handler onRequest(CmConnection request, InetSocketAddress local,
                InetSocketAddress peer, ConnectionParameters parameters);
    }
}
