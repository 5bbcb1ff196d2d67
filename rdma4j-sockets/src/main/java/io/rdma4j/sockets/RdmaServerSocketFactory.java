// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

import javax.net.ServerSocketFactory;

/**
 * Makes server sockets over RDMA, for libraries that take a {@link ServerSocketFactory} or the name of its class. As {@link
 * RdmaSockets#openServerSocket}. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaServerSocketFactory extends ServerSocketFactory {
    /** As {@link ServerSocket} has it. */
    private static final int BACKLOG = 50;

    /** A factory; all are alike. */
    public RdmaServerSocketFactory() {}

    /** {@return a factory} For libraries that call this method of a class by its name. */
    public static ServerSocketFactory getDefault() {
        return new RdmaServerSocketFactory();
    }

    @Override
    public ServerSocket createServerSocket() {
        return RdmaSockets.openServerSocket();
    }

    @Override
    public ServerSocket createServerSocket(int port) throws IOException {
        return createServerSocket(port, BACKLOG, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) throws IOException {
        return createServerSocket(port, backlog, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog, @Nullable InetAddress address)
            throws IOException {
        ServerSocket socket = createServerSocket();
        try {
            socket.bind(new InetSocketAddress(address, port), backlog);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }
}
