// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.tcp;

import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.tools.timing.Backoff;

import java.io.IOException;
import java.io.InputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The TCP connection by which a server and its one client exchange the addresses of their queue pairs before RDMA is
 * possible, and synchronize at the end. Each wait for a connected peer is bounded by the patience of its side,
 * unless the tool continues it. For one thread.
 */
public final class OutOfBandChannel implements AutoCloseable {
    /** The exceptions of a tool for a peer that does not answer. */
    public interface Failures {
        /** {@return the exception if bytes could not be sent} */
        IOException notSent(IOException cause);

        /** {@return the exception if bytes could not be received} */
        IOException notReceived(IOException cause);

        /** Nothing came during the patience: throws, or returns to wait for the same time again. */
        void onSilence(Duration patience) throws IOException;

        /** {@return the exception if the peer closed the connection} */
        IOException hungUp();
    }

    /** The last word of the C programs. */
    private static final String DONE = "done\0";

    private static final long AWAKE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Socket socket;
    private final boolean isClient;
    private final Duration patience;
    private boolean isAwake;

    private OutOfBandChannel(Socket socket, boolean isClient, Duration patience)
            throws IOException {
        this.socket = socket;
        this.isClient = isClient;
        this.patience = patience;
        socket.setSoTimeout(millis(patience));
    }

    // ---------------------------------------------------------------- getting in touch

    /** {@return a socket to {@link #accept} on} */
    public static ServerSocket listen(int port) throws IOException {
        try {
            return TcpSockets.listen(new InetSocketAddress(port), 1);
        } catch (IOException e) {
            throw new IOException("Couldn't listen to port " + port + ": " + e.getMessage(), e);
        }
    }

    /** Waits for one client, without end. Then it stops listening, so that the next server may use the port. */
    public static OutOfBandChannel accept(ServerSocket listener, Duration patience)
            throws IOException {
        Socket socket = listener.accept();
        listener.close();
        return new OutOfBandChannel(socket, false, patience);
    }

    /** Connects to the first address of a server that answers. */
    public static OutOfBandChannel connect(String host, int port, Duration patience)
            throws IOException {
        IOException failure = new IOException("no address");
        for (InetAddress address : addresses(host)) {
            Socket socket = TcpSockets.socket();
            try {
                socket.connect(new InetSocketAddress(address, port), millis(patience));
                return new OutOfBandChannel(socket, true, patience);
            } catch (IOException e) {
                socket.close();
                failure = e;
            }
        }
        throw new IOException("Couldn't connect to " + host + ":" + port + ": "
                + failure.getMessage() + scopeHint(host), failure);
    }

    private static InetAddress[] addresses(String host) throws IOException {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new IOException("unknown host '" + host + "'", e);
        }
    }

    /** {@return what a link-local address lacks that names no interface} */
    private static String scopeHint(String host) throws IOException {
        return addresses(host)[0] instanceof Inet6Address address && address.isLinkLocalAddress()
                && address.getScopeId() == 0
                        ? "; a link-local address needs its interface, as in " + host + "%eth0"
                        : "";
    }

    private static int millis(Duration patience) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, patience.toMillis()));
    }

    /** {@return whether this side connected to the other} */
    public boolean isClient() {
        return isClient;
    }

    /** {@return the address of this end; one of the link with its interface} */
    public InetAddress localAddress() {
        return socket.getLocalAddress();
    }

    /** {@return the address of the peer's end, as this side sees it} */
    public InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    // ---------------------------------------------------------------- bytes

    /** Sends bytes in one piece: the C programs expect to read them at once. */
    public void send(byte[] bytes, Failures failures) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw failures.notSent(e);
        }
    }

    /** Sends the last word of the C programs. */
    public void sendDone(Failures failures) throws IOException {
        send(done(), failures);
    }

    private static byte[] done() {
        return DONE.getBytes(StandardCharsets.US_ASCII);
    }

    /** {@return the peer's next bytes} */
    public byte[] receive(int length, Failures failures) throws IOException {
        byte[] bytes = new byte[length];
        int have = 0;
        while (have < length) {
            int count = receiveSome(bytes, have, failures);
            if (count < 0) {
                throw failures.hungUp();
            }
            have += count;
        }
        return bytes;
    }

    private int receiveSome(byte[] bytes, int from, Failures failures) throws IOException {
        try {
            if (isAwake) {
                busyWait();
            }
            return socket.getInputStream().read(bytes, from, bytes.length - from);
        } catch (SocketTimeoutException e) {
            failures.onSilence(patience);
            return 0;
        } catch (IOException e) {
            throw failures.notReceived(e);
        }
    }

    /**
     * From now on waits for bytes are busy for a while, before the thread sleeps. A thread that sleeps is often woken on
     * the processor of the peer that sent to it, and what the two do then is measured on one processor, until the system
     * separates them again.
     */
    public void stayAwake() {
        isAwake = true;
    }

    private void busyWait() throws IOException {
        InputStream in = socket.getInputStream();
        long endNs = System.nanoTime() + AWAKE_NS;
        for (int polls = 1; in.available() == 0 && System.nanoTime() - endNs < 0; polls++) {
            Backoff.pause(polls);
        }
    }

    /** Receives the last word of the C programs. */
    public void receiveDone(Failures failures) throws IOException {
        receive(DONE.length(), failures);
    }

    // ---------------------------------------------------------------- the end

    /**
     * Sends the peer a word and waits until the peer has sent the same one, has closed the connection, or its time is up.
     *
     * @return whether the peer has sent it; a program that does not know the word or has failed closes the connection instead
     */
    public boolean meet(int word) {
        try {
            socket.getOutputStream().write(word);
            return socket.getInputStream().read() == word;
        } catch (IOException e) {
            // Hung up, or silent for too long. It is over in any case.
            return false;
        }
    }

    /** Says the last word of the C programs, and then as {@link #leave}. */
    public void part() {
        try {
            socket.getOutputStream().write(done());
        } catch (IOException e) {
            // The peer was faster: it has everything and has ended.
            return;
        }
        leave();
    }

    /** Ends the sending, and stays until the peer does the same: it may still wait for an acknowledgement. */
    public void leave() {
        try {
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            while (in.read() >= 0) {
                // The peer's last bytes have no meaning.
            }
        } catch (IOException e) {
            // The peer has ended or was silent for too long; the connection ends in any case.
            return;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
