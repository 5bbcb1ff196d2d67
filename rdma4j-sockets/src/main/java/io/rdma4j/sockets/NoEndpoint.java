// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** For a server socket that asks its channel for everything: its constructor takes no null. Nothing of it is called. */
final class NoEndpoint extends SocketImpl {
    private static UnsupportedOperationException never() {
        return new UnsupportedOperationException("the channel of the socket does everything");
    }

    @Override
    protected void create(boolean isStream) {
        throw never();
    }

    @Override
    protected void connect(String host, int port) {
        throw never();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw never();
    }

    @Override
    protected void connect(SocketAddress address, int timeoutMs) {
        throw never();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw never();
    }

    @Override
    protected void listen(int backlog) {
        throw never();
    }

    @Override
    protected void accept(SocketImpl accepted) {
        throw never();
    }

    @Override
    protected InputStream getInputStream() {
        throw never();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw never();
    }

    @Override
    protected int available() {
        throw never();
    }

    @Override
    protected void close() {
        throw never();
    }

    @Override
    protected void sendUrgentData(int data) {
        throw never();
    }

    @Override
    public void setOption(int name, Object value) {
        throw never();
    }

    @Override
    public Object getOption(int name) {
        throw never();
    }
}
