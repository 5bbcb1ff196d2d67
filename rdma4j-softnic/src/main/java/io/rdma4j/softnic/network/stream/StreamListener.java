// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import java.net.InetSocketAddress;

/** Accepts connections at an address. Only for the thread that drives its network. */
public interface StreamListener {
    /** Is notified of connections, in the thread that drives the network. */
    @FunctionalInterface
    interface Handler {
        /** A connection was accepted; the callee sets its handler by {@link Stream#handler}. */
        void onStream(Stream accepted);
    }

    /** {@return the address that it listens at} */
    InetSocketAddress local();

    /** Stops listening. Idempotent. */
    void close();
}
