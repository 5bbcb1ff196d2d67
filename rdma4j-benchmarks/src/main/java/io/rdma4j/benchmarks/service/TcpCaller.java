// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A blocking socket: each request comes back. */
final class TcpCaller implements Caller {
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final byte[] bytes;

    TcpCaller(InetSocketAddress server, Work work) throws IOException {
        socket = new Socket(server.getAddress(), server.getPort());
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
        bytes = new byte[work.requestBytes()];
    }

    @Override
    public void call() throws IOException {
        out.write(bytes);
        in.readFully(bytes);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
