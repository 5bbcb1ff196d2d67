// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A program that connects and writes so many bytes, one by one. Then it does nothing with its channel until there is a line for it. Its arguments are a transport,
 * a port and how many bytes.
 */
final class WritingPeer {
    private WritingPeer() {}

    public static void main(String[] arguments) throws IOException {
        int bytes = Integer.parseInt(arguments[2]);
        try (SocketChannel channel = Transport.valueOf(arguments[0]).open()) {
            channel.connect(Transport.loopback(Integer.parseInt(arguments[1])));
            ByteBuffer one = ByteBuffer.allocate(1);
            for (int i = 0; i < bytes; i++) {
                channel.write(one.clear());
            }
            int _ = System.in.read();
        }
    }
}
