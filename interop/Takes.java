// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Reads what one client sends, to its end. It knows nothing of RDMA.
 *
 * <p>Run by {@code interop/run} as {@code java Takes.java ADDRESS PORT BYTES}: how many it must be.
 */
final class Takes {
    private static final int CHUNK = 1 << 17;

    private Takes() {}

    public static void main(String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[2]);
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(
                    new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
            System.out.println("listening");
            try (SocketChannel client = listener.accept()) {
                long count = count(client);
                if (count != wanted) {
                    throw new IOException(count + " bytes came, not " + wanted);
                }
            }
        }
    }

    private static long count(SocketChannel client) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
        long count = 0;
        for (int read = client.read(chunk); read >= 0; read = client.read(chunk.clear())) {
            count += read;
        }
        return count;
    }
}
