package io.rdma4j.softnic.network.stream;

import java.net.InetSocketAddress;

/** A place where connections arrive. Only for the thread that drives its network. */
public interface StreamListener {
    /** Hears of connections, in the thread that drives the network. */
    @FunctionalInterface
    interface Handler {
        /** A connection was accepted; {@link Stream#handler} says who hears of it. */
        void onStream(Stream accepted);
    }

    /** {@return where it listens} */
    InetSocketAddress local();

    /** Stops listening. Idempotent. */
    void close();
}
