// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

import javax.net.SocketFactory;

/**
 * Makes sockets over RDMA, for libraries that take a {@link SocketFactory} or the name of its class. As {@link
 * RdmaSockets#openSocket}. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaSocketFactory extends SocketFactory {
    /** A factory; all are alike. */
    public RdmaSocketFactory() {}

    /** {@return a factory} For libraries that call this method of a class by its name. */
    public static SocketFactory getDefault() {
        return new RdmaSocketFactory();
    }

    @Override
    public Socket createSocket() {
        return RdmaSockets.openSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected(createSocket(), new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected(createSocket(), new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
            throws IOException {
        return connected(bound(localHost, localPort), new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
            throws IOException {
        return connected(bound(localHost, localPort), new InetSocketAddress(host, port));
    }

    private Socket bound(InetAddress localHost, int localPort) throws IOException {
        Socket socket = createSocket();
        try {
            socket.bind(new InetSocketAddress(localHost, localPort));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static Socket connected(Socket socket, InetSocketAddress remote) throws IOException {
        try {
            socket.connect(remote);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }
}
