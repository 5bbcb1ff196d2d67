// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.tcp;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.IntConsumer;

/** As much as goes through, written and read in messages from and to direct buffers. */
public final class TcpStream implements PairedWorkload {
    /** Creates the workload. */
    public TcpStream() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (SocketChannel channel = accept(ready)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(settings.sizeBytes());
            while (channel.read(buffer) >= 0) {
                if (!buffer.hasRemaining()) {
                    buffer.clear();
                }
            }
        }
    }

    static SocketChannel accept(IntConsumer ready) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            ready.accept(((InetSocketAddress) listener.getLocalAddress()).getPort());
            return listener.accept();
        }
    }

    static SocketChannel connect(int port) throws IOException {
        return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (SocketChannel channel = connect(port)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(settings.sizeBytes());
            Stretch stretch = new Stretch(settings);
            long bytes = 0;
            while (stretch.goesOn(bytes)) {
                bytes += channel.write(buffer);
                if (!buffer.hasRemaining()) {
                    buffer.clear();
                }
            }
            return new Figures().with(Quantity.BYTES_PER_SECOND, stretch.perSecond())
                    .with(Quantity.ALLOCATED_BYTES, stretch.allocated(settings.sizeBytes()));
        }
    }
}
