// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Two channels of one process, connected over a transport; the first has connected. */
record Connected(SocketChannel channel, SocketChannel peer) implements AutoCloseable {
    static Connected over(Transport transport) throws IOException {
        try (ServerSocketChannel listener = transport.listen()) {
            return with(transport, listener);
        }
    }

    static Connected with(Transport transport, ServerSocketChannel listener) throws IOException {
        SocketChannel channel = transport.open();
        channel.connect(listener.getLocalAddress());
        return new Connected(channel, listener.accept());
    }

    @Override
    public void close() throws IOException {
        channel.close();
        peer.close();
    }
}
