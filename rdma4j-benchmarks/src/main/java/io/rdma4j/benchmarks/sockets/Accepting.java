// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** A server of one connection. */
final class Accepting {
    private Accepting() {}

    /** What it does with the connection. */
    @FunctionalInterface
    interface Serving {
        /** Serves until the client closes. */
        void serve(SocketChannel channel) throws IOException;
    }

    /** {@return the port where the first client is served, by a thread of its own} */
    static int first(Serving serving) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofPlatform().start(() -> {
            try (listener; SocketChannel channel = listener.accept()) {
                serving.serve(channel);
            } catch (IOException e) {
                // The client is killed when it has its figure.
            }
        });
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }
}
