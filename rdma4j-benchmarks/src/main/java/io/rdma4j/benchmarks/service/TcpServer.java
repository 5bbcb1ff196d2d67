// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/** The service over TCP: what arrives goes back. */
final class TcpServer implements ServiceServer {
    private static final int BACKLOG = 128;

    private final Shape shape;
    private final Work work;

    TcpServer(Shape shape, Work work) {
        this.shape = shape;
        this.work = work;
    }

    @Override
    public void run(InetSocketAddress address, IntConsumer onListening) throws IOException {
        switch (shape) {
            case ONE_THREAD, SELECTOR -> selecting(address, onListening, 0);
            case THREE_WORKERS -> selecting(address, onListening, RdmaServer.WORKERS);
            case VIRTUAL_THREADS -> virtual(address, onListening);
        }
    }

    // ---------------------------------------------------------------- selectors

    private void selecting(InetSocketAddress address, IntConsumer onListening, int workers)
            throws IOException {
        List<TcpLoop> loops = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            TcpLoop loop = new TcpLoop(work);
            loops.add(loop);
            Thread.ofPlatform().daemon().name("worker-" + i).start(loop::run);
        }
        TcpLoop first = new TcpLoop(work);
        ServerSocketChannel listening = first.listen(address,
                loops.isEmpty() ? List.of(first) : loops);
        onListening.accept(listening.socket().getLocalPort());
        first.run();
    }

    /** A thread with a selector. */
    static final class TcpLoop {
        private final Selector selector;
        private final ByteBuffer buffer;
        private List<TcpLoop> takers = List.of();
        private int accepted;

        TcpLoop(Work work) throws IOException {
            selector = Selector.open();
            buffer = ByteBuffer.allocateDirect(work.requestBytes());
        }

        Selector selector() {
            return selector;
        }

        ServerSocketChannel listen(InetSocketAddress address, List<TcpLoop> whoServes)
                throws IOException {
            takers = whoServes;
            ServerSocketChannel listening = ServerSocketChannel.open().bind(address, BACKLOG);
            listening.configureBlocking(false);
            listening.register(selector, SelectionKey.OP_ACCEPT);
            return listening;
        }

        void run() {
            try {
                while (true) {
                    selector.select();
                    for (SelectionKey key : selector.selectedKeys()) {
                        serve(key);
                    }
                    selector.selectedKeys().clear();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void serve(SelectionKey key) throws IOException {
            if (key.isAcceptable()) {
                SocketChannel channel = ((ServerSocketChannel) key.channel()).accept();
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.configureBlocking(false);
                TcpLoop taker = takers.get(accepted++ % takers.size());
                channel.register(taker.selector, SelectionKey.OP_READ);
                taker.selector.wakeup();
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            buffer.clear();
            try {
                if (channel.read(buffer) < 0) {
                    channel.close();
                    return;
                }
            } catch (IOException reset) {
                channel.close();
                return;
            }
            buffer.flip();
            channel.write(buffer);
        }
    }

    // ---------------------------------------------------------------- virtual threads

    private void virtual(InetSocketAddress address, IntConsumer onListening) throws IOException {
        try (ServerSocket listening = new ServerSocket(address.getPort(), BACKLOG,
                address.getAddress())) {
            onListening.accept(listening.getLocalPort());
            while (true) {
                Socket socket = listening.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        }
    }

    private void serve(Socket socket) {
        byte[] bytes = new byte[work.requestBytes()];
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            while (in.readNBytes(bytes, 0, bytes.length) == bytes.length) {
                out.write(bytes);
            }
        } catch (SocketException gone) {
            // The client has ended.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
