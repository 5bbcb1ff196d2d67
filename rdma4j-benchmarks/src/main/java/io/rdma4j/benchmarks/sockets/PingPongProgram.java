// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** Messages of 64 bytes to and fro, by blocking channels, or by channels whose selectors are asked again and again. */
final class PingPongProgram implements SocketProgram {
    private static final int BYTES = 64;

    private final boolean isPolled;

    PingPongProgram(boolean isPolled) {
        this.isPolled = isPolled;
    }

    @Override
    public int serve() throws IOException {
        return Accepting.first(channel -> {
            try (End end = new End(channel, isPolled)) {
                while (end.read()) {
                    end.write();
                }
            }
        });
    }

    @Override
    public double drive(int port, Stretch stretch) throws Exception {
        try (SocketChannel channel = SocketChannel
                .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                End end = new End(channel, isPolled)) {
            double rate = stretch.rate(() -> {
                end.write();
                if (!end.read()) {
                    throw new EOFException("the server has gone");
                }
                return 1;
            });
            return 1e6 / rate;
        }
    }

    private static final class End implements AutoCloseable {
        private final SocketChannel channel;
        private final Selector selector;
        private final boolean isPolled;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);

        End(SocketChannel channel, boolean isPolled) throws IOException {
            this.channel = channel;
            this.isPolled = isPolled;
            selector = Selector.open();
            if (isPolled) {
                channel.configureBlocking(false);
                channel.register(selector, SelectionKey.OP_READ);
            }
        }

        void write() throws IOException {
            buffer.clear();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }

        boolean read() throws IOException {
            buffer.clear();
            while (buffer.hasRemaining()) {
                while (isPolled && selector.selectNow() == 0) {
                    Thread.onSpinWait();
                }
                selector.selectedKeys().clear();
                if (channel.read(buffer) < 0) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void close() throws IOException {
            selector.close();
        }
    }
}
