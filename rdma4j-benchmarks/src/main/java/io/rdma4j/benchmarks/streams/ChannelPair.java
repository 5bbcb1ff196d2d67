// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.streams;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** By the JDK's channels, as iWARP's streams use them. */
final class ChannelPair implements StreamPair {
    private final SocketChannel writer;
    private final SocketChannel reader;
    private final Selector selector = Selector.open();
    private final ByteBuffer out = ByteBuffer.allocateDirect(MOST);
    private final ByteBuffer in = ByteBuffer.allocateDirect(MOST);
    private final Consumer<SelectionKey> countReady = this::count;
    private int ready;

    ChannelPair() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            writer = SocketChannel.open(server.getLocalAddress());
            reader = server.accept();
        }
        for (SocketChannel each : new SocketChannel[]{writer, reader}) {
            each.configureBlocking(false);
            each.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        reader.register(selector, SelectionKey.OP_READ);
    }

    private void count(SelectionKey key) {
        ready += key.isReadable() ? 1 : 0;
    }

    @Override
    public int write(int length) throws IOException {
        return writer.write(out.limit(length).position(0));
    }

    @Override
    public int read(int most) throws IOException {
        return reader.read(in.limit(most).position(0));
    }

    @Override
    public int look() throws IOException {
        ready = 0;
        selector.selectNow(countReady);
        return ready;
    }

    @Override
    public void close() throws IOException {
        selector.close();
        writer.close();
        reader.close();
    }
}
