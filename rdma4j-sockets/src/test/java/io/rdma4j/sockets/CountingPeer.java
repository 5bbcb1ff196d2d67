// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A program that connects and sends a byte. Then it waits for a line; from then on it reads to the end, prints how many bytes came,
 * and closes. Its arguments are a transport and a port.
 */
final class CountingPeer {
    private CountingPeer() {}

    public static void main(String[] arguments) throws IOException {
        try (SocketChannel channel = Transport.valueOf(arguments[0]).open()) {
            channel.connect(Transport.loopback(Integer.parseInt(arguments[1])));
            channel.write(ByteBuffer.allocate(1));
            System.out.println("connected");
            if (System.in.read() < 0) {
                return;
            }
            ByteBuffer buffer = ByteBuffer.allocate(10_000);
            long bytes = 0;
            for (int count = 0; count >= 0; count = channel.read(buffer.clear())) {
                bytes += count;
            }
            System.out.println("read " + bytes);
        }
    }
}
