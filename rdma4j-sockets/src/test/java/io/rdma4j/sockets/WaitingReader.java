// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A program that accepts one connection and reads until there is no more, or that fails; it says its port at first, and at last how many bytes came, and what then.
 * Its argument is a transport.
 */
final class WaitingReader {
    private WaitingReader() {}

    public static void main(String[] arguments) throws IOException {
        try (ServerSocketChannel listener = Transport.valueOf(arguments[0]).listen()) {
            System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
            try (SocketChannel channel = listener.accept()) {
                System.out.println(readAll(channel));
            }
        }
    }

    private static String readAll(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocate(5_000);
        long bytes = 0;
        try {
            for (int count = 0; count >= 0; count = channel.read(buffer.clear())) {
                bytes += count;
            }
            return bytes + " bytes, then the end";
        } catch (IOException e) {
            return bytes + " bytes, then: " + e.getMessage();
        }
    }
}
