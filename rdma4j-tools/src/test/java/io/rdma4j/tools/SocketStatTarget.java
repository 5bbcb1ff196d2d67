// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.sockets.RdmaServerSocketChannel;
import io.rdma4j.sockets.RdmaSocketChannel;
import io.rdma4j.sockets.RdmaSockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;

/**
 * A program with a listener and a connection to itself, over which 1,000 bytes went that nobody has read; it sends as many for
 * each byte of input.
 */
final class SocketStatTarget {
    private static final int BYTES = 1000;

    private SocketStatTarget() {}

    public static void main(String[] arguments) throws Exception {
        try (RdmaServerSocketChannel listener = RdmaSockets.openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(arguments[0], 0), 7);
            try (RdmaSocketChannel channel = RdmaSockets.openSocketChannel()) {
                channel.connect(Objects.requireNonNull(listener.getLocalAddress()));
                try (SocketChannel accepted = Objects.requireNonNull(listener.accept())) {
                    do {
                        send(channel, accepted);
                        System.out.println(port(channel) + " " + port(accepted));
                    } while (System.in.read() >= 0);
                }
            }
        }
    }

    private static int port(SocketChannel channel) throws IOException {
        return ((InetSocketAddress) Objects.requireNonNull(channel.getLocalAddress())).getPort();
    }

    /** Returns when all but the first byte is there, unread. */
    private static void send(SocketChannel channel, SocketChannel accepted) throws IOException {
        channel.write(ByteBuffer.allocate(BYTES));
        accepted.read(ByteBuffer.allocate(1));
    }
}
