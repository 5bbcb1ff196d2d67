// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.sockets.RdmaServerSocketChannel;
import io.rdma4j.sockets.RdmaSocketChannel;
import io.rdma4j.sockets.RdmaSockets;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A peer of rcopy that stops in the middle, until its standard input ends: a client that sends five bytes of a header, or a server that takes a header
 * and does not answer.
 */
final class SilentCopyPeer {
    private static final int HEADER = 16;
    private static final int PART = 5;

    private SilentCopyPeer() {}

    public static void main(String[] arguments) throws Exception {
        InetSocketAddress address = new InetSocketAddress(arguments[1],
                Integer.parseInt(arguments[2]));
        if (arguments[0].equals("client")) {
            send(address);
        } else {
            receive(address);
        }
    }

    private static void send(InetSocketAddress server) throws Exception {
        try (RdmaSocketChannel channel = RdmaSockets.openSocketChannel()) {
            channel.connect(server);
            channel.write(ByteBuffer.allocate(PART));
            System.out.println("sent");
            System.in.readAllBytes();
        }
    }

    private static void receive(InetSocketAddress address) throws Exception {
        try (RdmaServerSocketChannel listener = RdmaSockets.openServerSocketChannel()) {
            listener.bind(address);
            System.out.println("listening");
            try (RdmaSocketChannel client = Objects.requireNonNull(listener.accept())) {
                ByteBuffer header = ByteBuffer.allocate(HEADER);
                while (header.hasRemaining()) {
                    client.read(header);
                }
                System.out.println("received");
                System.in.readAllBytes();
            }
        }
    }
}
