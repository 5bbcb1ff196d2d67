// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** A server that leaves who connects without an answer: over TCP one whose backlog is full, else one that never accepts. */
final class SilentPeer implements Closeable {
    private static final int MOST_CONNECTIONS = 10;

    private final List<Closeable> open = new ArrayList<>();
    private final InetSocketAddress address;

    private SilentPeer(Transport transport) throws IOException {
        boolean isTcp = transport == Transport.TCP || transport == Transport.RULED_TCP;
        address = isTcp ? full() : mute(transport.device());
    }

    /** {@return one for channels of a transport} */
    static SilentPeer of(Transport transport) throws IOException {
        return new SilentPeer(transport);
    }

    private InetSocketAddress full() throws IOException {
        ServerSocketChannel listener = keep(ServerSocketChannel.open());
        listener.bind(Transport.loopback(0), 1);
        InetSocketAddress at = (InetSocketAddress) listener.getLocalAddress();
        for (int i = 0; i < MOST_CONNECTIONS; i++) {
            SocketChannel channel = keep(SocketChannel.open());
            channel.configureBlocking(false);
            // The handshake of loopback is over when connect returns.
            if (!channel.connect(at) && !channel.finishConnect()) {
                return at;
            }
        }
        throw new IOException("the backlog takes " + MOST_CONNECTIONS + " connections");
    }

    private InetSocketAddress mute(String device) throws IOException {
        CmId listener = CmId.create(PortSpace.TCP);
        open.add(listener::close);
        listener.device(device);
        listener.bindAddress(Transport.loopback(0));
        listener.listen(MOST_CONNECTIONS);
        return listener.localAddress();
    }

    private <T extends Closeable> T keep(T opened) {
        open.add(opened);
        return opened;
    }

    InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() throws IOException {
        for (Closeable each : open) {
            each.close();
        }
    }
}
