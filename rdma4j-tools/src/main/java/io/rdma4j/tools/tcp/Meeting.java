package io.rdma4j.tools.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;

/** How a server and its one client get in touch; their sockets wait no longer than patience lasts. */
public final class Meeting {
    private Meeting() {}

    /** {@return a socket to {@link #accept} on} */
    public static ServerSocket listen(int port) throws IOException {
        try {
            return new ServerSocket(port, 1);
        } catch (IOException e) {
            throw new IOException("Couldn't listen to port " + port + ": " + e.getMessage(), e);
        }
    }

    /** Waits for one client, for ever. Nobody else is to come: it listens no more, and the next server may have the port. */
    public static Socket accept(ServerSocket listener, Duration patience) throws IOException {
        Socket socket = listener.accept();
        listener.close();
        socket.setSoTimeout(millis(patience));
        return socket;
    }

    /** Connects to the first address of a server that answers. */
    public static Socket connect(String host, int port, Duration patience) throws IOException {
        IOException failure = new IOException("no address");
        for (InetAddress address : addresses(host)) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), millis(patience));
                socket.setSoTimeout(millis(patience));
                return socket;
            } catch (IOException e) {
                socket.close();
                failure = e;
            }
        }
        throw new IOException(
                "Couldn't connect to " + host + ":" + port + ": " + failure.getMessage(), failure);
    }

    private static InetAddress[] addresses(String host) throws IOException {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new IOException("unknown host '" + host + "'", e);
        }
    }

    private static int millis(Duration patience) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, patience.toMillis()));
    }
}
