// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.nio.channels.Selector;

/**
 * TCP as a device uses it. Any thread may call {@link #await} and {@link #wake}; only the thread that drives the network, one at
 * a time, may call the other methods.
 */
public interface StreamNetwork {
    /**
     * Listens for connections.
     *
     * @throws RdmaException EADDRINUSE if another program listens there, EADDRNOTAVAIL if it is not an address of this
     *         machine, EMFILE or ENFILE if there can be no more sockets
     */
    StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException;

    /**
     * Begins to connect. The outcome comes to the {@link Stream#handler handler} of the stream, never during this call.
     *
     * @param source the address and port of this side, null for any
     * @throws RdmaException EADDRINUSE or EADDRNOTAVAIL if the source cannot be used, EMFILE or ENFILE if there can be no
     *         more sockets
     */
    Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException;

    /** Calls the handlers of all events. {@return whether there were any} */
    boolean poll();

    /** As {@link #poll}, but need only check the stream that had the last event. */
    boolean pollBriefly();

    /** Waits until there is something to {@link #poll}, {@link #wake} is called, or time is up. */
    void await(long timeoutNs);

    /** {@return whether {@link #await(long, Selector)} can wait for a selector} For the thread that selects by it; the first calls wake it up. */
    default boolean canAwait(Selector selector) {
        return false;
    }

    /**
     * As {@link #await(long)}, and until a selector has something. With a time-out of 0 it may look at the selector alone.
     *
     * @return whether the selector has something
     * @throws IllegalStateException if {@link #canAwait} has not said that it can
     */
    default boolean await(long timeoutNs, Selector selector) {
        throw new IllegalStateException("no selector is awaited here");
    }

    /** Ends a wait under way, or the next one. */
    void wake();

    /** Resets all streams, and stops listening. */
    void close();
}
