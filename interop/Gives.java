// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Sends zeros to a server, and waits until that closes the connection. It knows nothing of RDMA.
 *
 * <p>Run by {@code interop/run} as {@code java Gives.java ADDRESS PORT BYTES}.
 */
final class Gives {
    private static final int CHUNK = 1 << 17;

    private Gives() {}

    public static void main(String[] arguments) throws IOException {
        InetSocketAddress server = new InetSocketAddress(arguments[0],
                Integer.parseInt(arguments[1]));
        try (SocketChannel channel = SocketChannel.open(server)) {
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            for (long left = Long.parseLong(arguments[2]); left > 0; left -= chunk.limit()) {
                chunk.clear().limit((int) Math.min(CHUNK, left));
                while (chunk.hasRemaining()) {
                    channel.write(chunk);
                }
            }
            channel.shutdownOutput();
            while (channel.read(chunk.clear()) >= 0) {
                // What the server says is nothing to this program.
            }
        }
    }
}
