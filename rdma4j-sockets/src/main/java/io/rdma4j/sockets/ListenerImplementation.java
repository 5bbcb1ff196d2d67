// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketException;

/** What a {@link java.net.ServerSocket} of ours is made of: it listens, and has no connection. */
abstract class ListenerImplementation extends SocketImplementation {
    ListenerImplementation() {
        super(ChannelOptions.OF_LISTENERS);
    }

    private static SocketException notConnected() {
        return new SocketException("a listening socket has no connection");
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        throw notConnected();
    }

    @Override
    protected void connect(InetAddress host, int port) throws IOException {
        throw notConnected();
    }

    @Override
    protected void connect(SocketAddress remote, int timeoutMs) throws IOException {
        throw notConnected();
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        throw notConnected();
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        throw notConnected();
    }

    @Override
    protected int available() throws IOException {
        throw notConnected();
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw notConnected();
    }
}
