// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.protocol.roce.wire.Path;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.channels.SocketChannel;

/**
 * Finds out whether a host answers at an address, by a TCP connection that carries nothing: for datagrams, the system tells
 * the JDK only that a port is closed. It does not matter what becomes of the connection, unless the system reports that it
 * has found no host. Makes no call that blocks.
 */
final class HostProbe {
    /** The system asks a link for a second or more. What is reported earlier is a firewall's refusal of TCP. */
    private static final long SEARCH_NS = 900_000_000;

    private final long begunNs;
    /** Null once it is known. */
    private @Nullable SocketChannel connecting;

    private HostProbe(@Nullable SocketChannel connecting, long begunNs) {
        this.connecting = connecting;
        this.begunNs = begunNs;
    }

    /** {@return a probe that has begun; one that finds nothing if the system does not let it begin} */
    static HostProbe begin(InetAddress source, InetAddress destination) {
        SocketChannel channel = null;
        try {
            channel = JdkProvider.provider().openSocketChannel();
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(source, 0));
            channel.connect(new InetSocketAddress(destination, Path.UDP_PORT));
            return new HostProbe(channel, System.nanoTime());
        } catch (IOException | RuntimeException refused) {
            PortableNetwork.close(channel);
            return new HostProbe(null, 0);
        }
    }

    /** {@return whether the system reports that no host answers at the address} */
    boolean findsNobody() {
        SocketChannel channel = connecting;
        if (channel == null) {
            return false;
        }
        try {
            if (channel.finishConnect()) {
                close();
            }
            return false;
        } catch (NoRouteToHostException nobody) {
            close();
            return isOfSearch(System.nanoTime() - begunNs);
        } catch (IOException otherwise) {
            close();
            return false;
        }
    }

    /**
     * {@return whether a report after some time is that of a search}
     *
     * @param afterNs the time since it began
     */
    static boolean isOfSearch(long afterNs) {
        return afterNs >= SEARCH_NS;
    }

    void close() {
        PortableNetwork.close(connecting);
        connecting = null;
    }
}
