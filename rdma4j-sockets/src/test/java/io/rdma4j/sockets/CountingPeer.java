// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.testkit.Wait;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;

/**
 * A program that connects and sends a byte. Then it waits for a line. With {@code read} it reads to the end, prints how many bytes came,
 * and closes; with {@code write} it writes {@link #WRITTEN} bytes, says so when they have arrived, and waits for the end of its input. Its arguments are a transport and a port.
 */
final class CountingPeer {
    /** Less than a receive buffer. */
    static final int WRITTEN = 100_000;

    private CountingPeer() {}

    public static void main(String[] arguments) throws IOException {
        try (SocketChannel channel = Transport.valueOf(arguments[0]).open()) {
            channel.connect(Transport.loopback(Integer.parseInt(arguments[1])));
            channel.write(ByteBuffer.allocate(1));
            System.out.println("connected");
            int line = System.in.read();
            if (line == 'w') {
                channel.write(ByteBuffer.allocate(WRITTEN));
                // What a process has not sent yet is lost with it.
                SocketConnection connection = Objects
                        .requireNonNull(((RdmaSocketChannel) channel).connection());
                Wait.until("all has arrived", () -> Objects.requireNonNull(connection.data())
                        .unacknowledged() == 0);
                System.out.println("written");
                System.in.transferTo(OutputStream.nullOutputStream());
            }
            if (line != 'r') {
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
