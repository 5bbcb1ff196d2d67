package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A TCP port that is taken by a socket which is bound and does nothing else. Who listens there and connects from there is bound
 * beside it ({@code SO_REUSEADDR}). It cannot be had where another program listens; and no other program can have it that
 * does not share it, while one that is bound in the same way can, until one of them listens. Source: socket(7). Thread safe.
 */
public final class HeldPort {
    private final SocketChannel holder;

    private HeldPort(SocketChannel holder) {
        this.holder = holder;
    }

    /**
     * Takes a port.
     *
     * @param address may be the wildcard address
     * @throws RdmaException EADDRINUSE if another program has it, EADDRNOTAVAIL if the address is none of this machine's
     */
    public static HeldPort at(InetSocketAddress address) throws RdmaException {
        SocketChannel holder = null;
        try {
            holder = SocketChannel.open(PortableStreams.family(address));
            holder.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            holder.bind(address);
            return new HeldPort(holder);
        } catch (IOException e) {
            PortableStreams.closeQuietly(holder);
            throw PortableStreams.refused("bind address", address, e);
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
