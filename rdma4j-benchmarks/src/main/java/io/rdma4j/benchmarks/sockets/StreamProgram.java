// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Blocking writes of one size; after each MiB the reader says so, one ahead, so that what is counted has arrived. */
final class StreamProgram implements SocketProgram {
    private static final int PIECE = 1 << 20;
    private static final int AHEAD = 16;

    private final int writeBytes;
    private final boolean isDirect;

    StreamProgram(int writeBytes, boolean isDirect) {
        this.writeBytes = writeBytes;
        this.isDirect = isDirect;
    }

    @Override
    public int serve() throws IOException {
        return Accepting.first(channel -> {
            ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
            ByteBuffer word = ByteBuffer.allocate(1);
            while (true) {
                buffer.clear();
                while (buffer.hasRemaining()) {
                    if (channel.read(buffer) < 0) {
                        return;
                    }
                }
                channel.write(word.clear());
            }
        });
    }

    @Override
    public double drive(int port, Stretch stretch) throws Exception {
        try (SocketChannel channel = SocketChannel
                .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            ByteBuffer buffer = isDirect
                    ? ByteBuffer.allocateDirect(writeBytes)
                    : ByteBuffer.allocate(writeBytes);
            ByteBuffer words = ByteBuffer.allocate(1);
            int[] ahead = new int[1];
            return stretch.rate(() -> {
                for (int sent = 0; sent < PIECE; sent += writeBytes) {
                    channel.write(buffer.clear());
                }
                if (++ahead[0] > AHEAD) {
                    if (channel.read(words.clear()) < 0) {
                        throw new EOFException("the server has gone");
                    }
                    ahead[0]--;
                }
                return PIECE;
            }) / 1e6;
        }
    }
}
