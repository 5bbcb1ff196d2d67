// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Still talks to its peer while the process ends, as servers do that leave a cluster; it knows nothing of RDMA. */
public final class FarewellProgram {
    /** Whoever takes the connection away meanwhile has done so long before. */
    private static final long LASTS_NS = 1_000_000_000;

    private FarewellProgram() {}

    public static void main(String[] arguments) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        SocketChannel server = listener.accept();
        exchange(client, server);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                long start = System.nanoTime();
                while (System.nanoTime() - start < LASTS_NS) {
                    exchange(client, server);
                }
                System.out.println("good-bye");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
    }

    private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
        from.write(ByteBuffer.wrap(new byte[1]));
        if (to.read(ByteBuffer.allocate(1)) != 1) {
            throw new IOException("the connection has ended");
        }
    }
}
