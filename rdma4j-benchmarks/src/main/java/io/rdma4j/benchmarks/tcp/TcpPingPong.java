// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.tcp;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.IntConsumer;

/** Messages to and fro; both sides block in reading, or ask again and again. */
public final class TcpPingPong implements PairedWorkload {
    /** Creates the workload. */
    public TcpPingPong() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (SocketChannel channel = prepared(TcpStream.accept(ready), settings)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(settings.sizeBytes());
            while (read(channel, buffer)) {
                write(channel, buffer);
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (SocketChannel channel = prepared(TcpStream.connect(port), settings)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(settings.sizeBytes());
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long rounds = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(rounds, beforeNs)) {
                buffer.clear();
                write(channel, buffer);
                if (!read(channel, buffer)) {
                    throw new IOException("the other side has gone");
                }
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
                rounds++;
            }
            return latencies.figures(0.5);
        }
    }

    private static SocketChannel prepared(SocketChannel channel, Settings settings)
            throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(!settings.isPolling());
        return channel;
    }

    /** {@return whether a whole message came; the buffer is ready to be written} */
    private static boolean read(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        buffer.flip();
        return true;
    }

    private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }
}
