// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.sockets.RdmaSocketOptions;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.RuledSelectorProvider;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;

/**
 * A program with a listener, a socket of datagrams and a connection to itself, all by rules, and a listener without. 1,000 bytes went over the connection that nobody has read;
 * it sends as many for each byte of input.
 */
final class SocketStatTarget {
    private static final int BYTES = 1000;

    private SocketStatTarget() {}

    public static void main(String[] arguments) throws Exception {
        SelectorProvider ruled = new RuledSelectorProvider(
                "listen:*=rdma,*:1=tcp,datagrams:*=rdma,rdma");
        try (ServerSocketChannel listener = ruled.openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(arguments[0], 0), 7);
            try (SocketChannel channel = ruled.openSocketChannel()) {
                channel.connect(Objects.requireNonNull(listener.getLocalAddress()));
                try (SocketChannel accepted = Objects.requireNonNull(listener.accept());
                        ServerSocketChannel _ = RdmaSockets.openServerSocketChannel()
                                .bind(new InetSocketAddress(arguments[0], 0), 5);
                        DatagramChannel datagrams = ruled.openDatagramChannel()
                                .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo")
                                .bind(new InetSocketAddress(arguments[0], 0))) {
                    sendItself(datagrams);
                    do {
                        send(channel, accepted);
                        System.out.println(port(channel) + " " + port(accepted) + " "
                                + ((InetSocketAddress) Objects
                                        .requireNonNull(datagrams.getLocalAddress())).getPort());
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

    /** One that is received, over UDP, and one that is left, over RDMA. */
    private static void sendItself(DatagramChannel datagrams) throws Exception {
        SocketAddress itself = Objects.requireNonNull(datagrams.getLocalAddress());
        datagrams.send(ByteBuffer.allocate(10), itself);
        datagrams.receive(ByteBuffer.allocate(10));
        datagrams.send(ByteBuffer.allocate(20), itself);
    }
}
