// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * A program with one thread that prints the port of its listener and accepts one connection. It waits for a byte there, writes some one by one if that is 1, prints
 * a line, and does nothing with its channels until there is a line for it; and so on until the end of the stream. Its argument is a transport.
 */
final class LeavingPeer {
    /** Of which the last are gathered while the first are on their way. */
    static final int BYTES = 5;

    private LeavingPeer() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ServerSocketChannel listener = Transport.valueOf(arguments[0]).listen()) {
            System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
            try (SocketChannel channel = listener.accept()) {
                ByteBuffer one = ByteBuffer.allocate(1);
                while (channel.read(one.clear()) > 0) {
                    for (int i = 0; i < BYTES && one.get(0) == 1; i++) {
                        channel.write(ByteBuffer.allocate(1));
                    }
                    System.out.println("away");
                    if (input.readLine() == null) {
                        return;
                    }
                }
            }
        }
    }
}
