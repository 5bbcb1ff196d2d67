// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A TCP port that is reserved by a socket which is only bound. Sockets that listen or connect at the port are bound beside
 * it ({@code SO_REUSEADDR}). The reservation fails if another program listens at the port. It keeps out programs that bind
 * without sharing; a program that binds in the same way can have the port too, until one of them listens. Source: socket(7).
 * Thread safe.
 */
public final class HeldPort {
    private final SocketChannel holder;

    private HeldPort(SocketChannel holder) {
        this.holder = holder;
    }

    /**
     * Reserves a port.
     *
     * @param address may be the wildcard address
     * @throws RdmaException EADDRINUSE if another program has it, EADDRNOTAVAIL if it is not an address of this machine
     */
    public static HeldPort at(InetSocketAddress address) throws RdmaException {
        SocketChannel holder = null;
        try {
            holder = JdkProvider.provider().openSocketChannel(PortableStreams.family(address));
            holder.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            holder.bind(address);
            return new HeldPort(holder);
        } catch (IOException e) {
            PortableStreams.closeQuietly(holder);
            throw StreamRefusal.of("bind address", address, e);
        }
    }

    /** Gives it back. Idempotent. */
    public void release() {
        try {
            holder.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
