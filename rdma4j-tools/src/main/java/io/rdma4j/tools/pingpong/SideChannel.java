package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.tcp.Meeting;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The TCP conversation by which two sides learn of each other's queue pairs.
 *
 * <p>The client tells its endpoints first. The server connects its queue pairs to them before it tells its
 * own, so that the client may send as soon as it knows them; the client says {@code done}. There the C programs
 * hang up. This one stays, to tell the peer when it has finished; who does not know that word does not hear it.
 */
final class SideChannel implements AutoCloseable {
    private static final int FINISHED = '.';
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    /** Makes a side's queue pairs ready for those of the peer. */
    @FunctionalInterface
    interface Connecting {
        void connect(List<Endpoint> remote) throws IOException;
    }

    private final Socket socket;
    private final boolean isClient;

    private SideChannel(Socket socket, boolean isClient) {
        this.socket = socket;
        this.isClient = isClient;
    }

    /** Waits for one client, for ever. */
    static SideChannel accept(ServerSocket listener, Duration patience) throws IOException {
        return new SideChannel(Meeting.accept(listener, patience), false);
    }

    /** Connects to the first address of a server that answers. */
    static SideChannel connect(String host, int port, Duration patience) throws IOException {
        return new SideChannel(Meeting.connect(host, port, patience), true);
    }

    /**
     * Tells own endpoints, learns as many of the peer and connects to them.
     *
     * @return the peer's endpoints
     */
    List<Endpoint> exchange(List<Endpoint> own, Connecting connecting) throws IOException {
        List<Endpoint> remote;
        if (isClient) {
            tell(own);
            remote = learn(own.size());
            write(DONE);
            connecting.connect(remote);
        } else {
            remote = learn(own.size());
            connecting.connect(remote);
            tell(own);
            read(DONE.length);
        }
        return remote;
    }

    /**
     * Tells the peer that this side has finished and waits until the peer has, too, or is gone, or its time is up.
     *
     * @return whether the peer said so; a C program hung up long before, and a Java program that failed says nothing
     */
    boolean part() {
        try {
            socket.getOutputStream().write(FINISHED);
            return socket.getInputStream().read() == FINISHED;
        } catch (IOException e) {
            // Hung up, or silent for too long. The game is over in any case.
            return false;
        }
    }

    private void tell(List<Endpoint> endpoints) throws IOException {
        // In one piece: the C programs expect to read an endpoint at once.
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        endpoints.forEach(endpoint -> bytes.writeBytes(endpoint.bytes()));
        write(bytes.toByteArray());
    }

    private void write(byte[] bytes) throws IOException {
        try {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            out.flush();
        } catch (IOException e) {
            throw new IOException("Couldn't send local address: " + e.getMessage(), e);
        }
    }

    private List<Endpoint> learn(int count) throws IOException {
        List<Endpoint> endpoints = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            endpoints.add(Endpoint.of(read(Endpoint.LENGTH)));
        }
        return endpoints;
    }

    private byte[] read(int length) throws IOException {
        InputStream in = socket.getInputStream();
        byte[] bytes;
        try {
            bytes = in.readNBytes(length);
        } catch (SocketTimeoutException e) {
            throw new IOException("Couldn't read remote address: the peer says nothing more for "
                    + socket.getSoTimeout() / 1000.0 + " s; is it the same tool on both sides?", e);
        } catch (IOException e) {
            throw new IOException("Couldn't read remote address: " + e.getMessage(), e);
        }
        if (bytes.length < length) {
            throw new IOException("Couldn't read remote address: the peer hung up; its own output"
                    + " says why");
        }
        return bytes;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
