// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** The two kinds of sockets of {@code java.net}. */
enum SocketKind {
    /** That of a channel. */
    OF_CHANNEL,
    /** One without a channel. */
    ALONE;

    Socket open(Transport transport) throws IOException {
        if (this == OF_CHANNEL) {
            SocketChannel channel = transport.open();
            return channel.socket();
        }
        // An option is set in both cases, which makes what is behind a socket.
        return transport == Transport.TCP
                ? new Socket().setOption(StandardSocketOptions.SO_KEEPALIVE, false)
                : RdmaSockets.openSocket().setOption(RdmaSocketOptions.RDMA_DEVICE,
                        transport.device());
    }

    ServerSocket openListener(Transport transport) throws IOException {
        if (this == OF_CHANNEL) {
            ServerSocketChannel channel = transport.openListener();
            return channel.socket();
        }
        return transport == Transport.TCP
                ? new ServerSocket().setOption(StandardSocketOptions.SO_RCVBUF, 1 << 17)
                : RdmaSockets.openServerSocket().setOption(RdmaSocketOptions.RDMA_DEVICE,
                        transport.device());
    }

    ServerSocket listen(Transport transport) throws IOException {
        ServerSocket listener = openListener(transport);
        listener.bind(Transport.loopback(0), 50);
        return listener;
    }
}
