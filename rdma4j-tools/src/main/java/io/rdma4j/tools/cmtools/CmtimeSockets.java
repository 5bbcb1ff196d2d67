// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.jdk.TcpSockets;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;

/** Measures the time of plain TCP connections, for comparison with the connection manager. */
final class CmtimeSockets {
    /** A step of one connection. */
    @FunctionalInterface
    private interface Doing {
        void take(int connection) throws IOException;
    }

    private final PrintWriter out;
    private final int patienceMs;
    private final StepTimes times;
    private final Socket[] sockets;

    CmtimeSockets(PrintWriter out, int connections, Duration patience) {
        this.out = out;
        patienceMs = (int) Math.min(Integer.MAX_VALUE, patience.toMillis());
        times = new StepTimes(connections);
        sockets = new Socket[connections];
    }

    /** Takes all connections of one client; waits for the first of them without end. */
    void serve(InetSocketAddress local) throws IOException {
        try (ServerSocket listener = listen(local)) {
            print("listening on port " + listener.getLocalPort());
            step(CmtimeStep.CONNECT, i -> {
                sockets[i] = accept(listener, i);
                listener.setSoTimeout(patienceMs);
            });
            print("closing sockets");
            step(CmtimeStep.DESTROY, i -> sockets[i].close());
        } finally {
            closeAll();
        }
        times.print(out);
    }

    private ServerSocket listen(InetSocketAddress local) throws IOException {
        try {
            return TcpSockets.listen(local, sockets.length);
        } catch (IOException e) {
            throw new IOException("cannot listen on port " + local.getPort() + ": "
                    + e.getMessage(), e);
        }
    }

    private Socket accept(ServerSocket listener, int connection) throws IOException {
        try {
            return listener.accept();
        } catch (SocketTimeoutException e) {
            throw new IOException("nothing came from the client for " + patienceMs / 1000 + " s; "
                    + connection + " of " + sockets.length + " connections are accepted: both sides"
                    + " need the same -c", e);
        }
    }

    void connect(AddressInfo info) throws IOException {
        InetSocketAddress source = info.source();
        InetSocketAddress server = Objects.requireNonNull(info.destination());
        try {
            print("creating sockets");
            step(CmtimeStep.CREATE_ID, i -> sockets[i] = TcpSockets.socket());
            if (source != null) {
                step(CmtimeStep.BIND, i -> sockets[i].bind(source));
            }
            print("connecting sockets");
            step(CmtimeStep.CONNECT, i -> connect(sockets[i], server));
            print("closing sockets");
            step(CmtimeStep.DESTROY, i -> sockets[i].close());
        } finally {
            closeAll();
        }
        times.print(out);
    }

    private void connect(Socket socket, InetSocketAddress server) throws IOException {
        try {
            socket.connect(server, patienceMs);
        } catch (IOException e) {
            throw new IOException("cannot connect to " + server.getAddress().getHostAddress()
                    + " port " + server.getPort() + ": " + e.getMessage(), e);
        }
    }

    private void step(CmtimeStep step, Doing doing) throws IOException {
        times.beginAll(step, System.nanoTime());
        for (int i = 0; i < sockets.length; i++) {
            times.begin(step, i, System.nanoTime());
            doing.take(i);
            times.end(step, i, System.nanoTime());
        }
        times.endAll(step, System.nanoTime());
    }

    private void closeAll() throws IOException {
        for (Socket socket : sockets) {
            if (socket != null) {
                socket.close();
            }
        }
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }
}
