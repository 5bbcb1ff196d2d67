// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import io.rdma4j.softnic.network.linux.route.RouteSocket;
import io.rdma4j.softnic.options.NetworkBackend;

import java.io.IOException;

/**
 * Asks the system for its network interfaces. One thread at a time calls {@link #mayHaveChanged} and {@link #look}; another
 * may wait meanwhile, and any may wake it.
 */
public interface HostSource extends AutoCloseable {
    /**
     * {@return whether there may be something that the last look has not seen} A source that is told of no changes answers
     * yes.
     */
    boolean mayHaveChanged();

    /**
     * {@return the present network interfaces}
     *
     * @throws IOException if the system cannot be asked now
     */
    Host look() throws IOException;

    /**
     * Waits until there may be a change, or a thread calls {@link #wake}.
     *
     * @param mostNs {@link Long#MAX_VALUE} to wait without limit
     */
    void await(long mostNs);

    /** Ends a wait under way, or the next one. */
    void wake();

    /** No thread waits any more. */
    @Override
    void close();

    /** {@return the best source that works here} */
    static HostSource ofSystem() {
        // A program that wants the portable back-end shall not load the native calls of the other.
        boolean isPortable = NetworkBackend.PORTABLE.text()
                .equals(System.getProperty("rdma4j.network"));
        String obstacle = isPortable ? "the network portable is asked for" : RouteSocket.obstacle();
        return SourceChoice.of(obstacle, () -> new RouteSource(RouteSocket.open()));
    }
}
