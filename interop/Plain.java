// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Reads what one client sends, to its end, or sends zeros to a server and waits until that closes: by sockets of {@code java.net}
 * that it makes itself. It knows nothing of RDMA.
 *
 * <p>Run by {@code interop/run} as {@code java Plain.java takes|gives ADDRESS PORT BYTES}.
 */
final class Plain {
    private static final int CHUNK = 1 << 17;

    private Plain() {}

    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.getByName(arguments[1]);
        int port = Integer.parseInt(arguments[2]);
        long bytes = Long.parseLong(arguments[3]);
        if (arguments[0].equals("takes")) {
            take(address, port, bytes);
        } else {
            give(address, port, bytes);
        }
    }

    private static void take(InetAddress address, int port, long wanted) throws IOException {
        try (ServerSocket listener = new ServerSocket(port, 1, address)) {
            System.out.println("listening");
            try (Socket client = listener.accept()) {
                long count = count(client.getInputStream());
                if (count != wanted) {
                    throw new IOException(count + " bytes came, not " + wanted);
                }
            }
        }
    }

    private static long count(InputStream from) throws IOException {
        byte[] chunk = new byte[CHUNK];
        long count = 0;
        for (int read = from.read(chunk); read >= 0; read = from.read(chunk)) {
            count += read;
        }
        return count;
    }

    private static void give(InetAddress address, int port, long bytes) throws IOException {
        try (Socket server = new Socket(address, port)) {
            OutputStream to = server.getOutputStream();
            byte[] chunk = new byte[CHUNK];
            for (long left = bytes; left > 0; left -= Math.min(CHUNK, left)) {
                to.write(chunk, 0, (int) Math.min(CHUNK, left));
            }
            server.shutdownOutput();
            // What the server says is nothing to this program.
            long _ = count(server.getInputStream());
        }
    }
}
