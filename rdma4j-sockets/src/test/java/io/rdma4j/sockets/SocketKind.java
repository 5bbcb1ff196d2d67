// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.rules.SocketRules;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
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
        if (transport == Transport.TCP) {
            return new Socket().setOption(StandardSocketOptions.SO_KEEPALIVE, false);
        }
        Socket socket = transport.rules().isEmpty()
                ? RdmaSockets.openSocket()
                : new RuledSocket(transport);
        // One that goes over TCP in any case has no device.
        return socket.supportedOptions().contains(RdmaSocketOptions.RDMA_DEVICE)
                ? socket.setOption(RdmaSocketOptions.RDMA_DEVICE, transport.device())
                : socket;
    }

    ServerSocket openListener(Transport transport) throws IOException {
        if (this == OF_CHANNEL) {
            ServerSocketChannel channel = transport.openListener();
            return channel.socket();
        }
        if (transport == Transport.TCP) {
            return new ServerSocket().setOption(StandardSocketOptions.SO_RCVBUF, 1 << 17);
        }
        ServerSocket socket = transport.rules().isEmpty()
                ? RdmaSockets.openServerSocket()
                : new RuledServerSocket(transport);
        return socket.supportedOptions().contains(RdmaSocketOptions.RDMA_DEVICE)
                ? socket.setOption(RdmaSocketOptions.RDMA_DEVICE, transport.device())
                : socket;
    }

    /** As a JVM makes them that routes its sockets. */
    private static final class RuledSocket extends Socket {
        RuledSocket(Transport transport) throws IOException {
            super(new RuledStreamEndpoint(SocketRules.parse(transport.rules()), true));
        }
    }

    private static final class RuledServerSocket extends ServerSocket {
        private final Transport transport;

        RuledServerSocket(Transport transport) {
            super(new RuledListeningEndpoint(SocketRules.parse(transport.rules())));
            this.transport = transport;
        }

        /** Without the factory for those that are accepted. */
        @Override
        public Socket accept() throws IOException {
            if (isClosed()) {
                throw new SocketException("Socket is closed");
            }
            if (!isBound()) {
                throw new SocketException("Socket is not bound yet");
            }
            Socket accepted = new RuledSocket(transport);
            implAccept(accepted);
            return accepted;
        }
    }

    ServerSocket listen(Transport transport) throws IOException {
        ServerSocket listener = openListener(transport);
        listener.bind(Transport.loopback(0), 50);
        return listener;
    }
}
