// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.function.IntConsumer;

/** A TCP connection on which two processes agree, beside what is measured. */
public final class Control implements AutoCloseable {
    private final Socket socket;
    private final boolean isPassive;
    private final DataInputStream in;
    private final DataOutputStream out;

    private Control(Socket socket, boolean isPassive) throws IOException {
        this.socket = socket;
        this.isPassive = isPassive;
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = new DataOutputStream(socket.getOutputStream());
    }

    /** Waits for the active side. */
    public static Control accept(IntConsumer ready) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ready.accept(listener.getLocalPort());
            return new Control(listener.accept(), true);
        }
    }

    /** Goes to the passive side. */
    public static Control connect(int port) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return new Control(socket, false);
    }

    /** {@return whether this is the passive side} */
    public boolean isPassive() {
        return isPassive;
    }

    /** {@return what the other side says} */
    public DataInputStream in() {
        return in;
    }

    /** {@return where to say something} */
    public DataOutputStream out() {
        return out;
    }

    /** Waits until the other side has come to the same place. */
    public void meet() throws IOException {
        out.writeByte('.');
        if (in.read() < 0) {
            throw new IOException("the other side has gone");
        }
    }

    /** {@return whether the other side has closed} Waits a millisecond for that. */
    public boolean hasEnded() throws IOException {
        socket.setSoTimeout(1);
        try {
            return in.read() < 0;
        } catch (SocketTimeoutException stillThere) {
            return false;
        }
    }

    /** Waits until the other side closes. */
    public void awaitEnd() throws IOException {
        while (in.read() >= 0) {
            // What it still says does not matter.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
