// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.jdk;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketImplFactory;

/**
 * Sockets over TCP, also where those that a program makes go over devices: then {@code new Socket()} and {@code new ServerSocket()} would
 * make a device of itself. So nothing of rdma4j calls them. Thread safe.
 */
public final class TcpSockets {
    private static final String IMPLEMENTATION = JdkProvider.PACKAGE + ".NioSocketImpl";

    private static final String THROUGH_PROXIES = "java.net.SocksSocketImpl";

    private static volatile boolean areSocketsRouted;
    private static volatile boolean areServersRouted;

    private TcpSockets() {}

    /** The JDK's own implementation has to be given to the socket that it is for. */
    private static final class OnImplementation extends Socket {
        OnImplementation(SocketImpl implementation) throws IOException {
            super(implementation);
        }
    }

    private static final class ServerOnImplementation extends ServerSocket {
        ServerOnImplementation(SocketImpl implementation) {
            super(implementation);
        }
    }

    /** {@return a socket over TCP, neither bound nor connected} */
    public static Socket socket() throws IOException {
        return areSocketsRouted ? new OnImplementation(throughProxies()) : new Socket();
    }

    /** {@return a socket over TCP that asks for no proxy of SOCKS, neither bound nor connected} */
    public static Socket direct() throws IOException {
        return areSocketsRouted
                ? new OnImplementation(implementation(false))
                : new Socket(Proxy.NO_PROXY);
    }

    /** {@return a server socket over TCP, not bound} */
    public static ServerSocket serverSocket() throws IOException {
        return areServersRouted
                ? new ServerOnImplementation(implementation(true))
                : new ServerSocket();
    }

    /**
     * {@return a server socket over TCP, bound to an address}
     *
     * @param backlog 0 for the JDK's default
     */
    public static ServerSocket listen(InetSocketAddress local, int backlog) throws IOException {
        ServerSocket made = serverSocket();
        try {
            made.bind(local, backlog);
            return made;
        } catch (IOException e) {
            made.close();
            throw e;
        }
    }

    /**
     * Lets all sockets and server sockets that are made from now on be those of two factories. Once in a JVM.
     *
     * @throws IOException if the JDK's own are not exported to this module, or the JVM has a factory already. If that is the one of server sockets alone,
     *         sockets are those of ours all the same
     */
    @SuppressWarnings("deprecation")
    public static synchronized void route(SocketImplFactory sockets,
            SocketImplFactory serverSockets) throws IOException {
        SocketImpl _ = implementation(false);
        boolean wereRouted = areSocketsRouted;
        // First: a socket that is made by another thread meanwhile must not be one of these.
        areSocketsRouted = true;
        try {
            Socket.setSocketImplFactory(sockets);
        } catch (SocketException e) {
            areSocketsRouted = wereRouted;
            throw e;
        }
        wereRouted = areServersRouted;
        areServersRouted = true;
        try {
            ServerSocket.setSocketFactory(serverSockets);
        } catch (SocketException e) {
            areServersRouted = wereRouted;
            throw e;
        }
    }

    /** {@return what asks for proxies of SOCKS at each connection, as the JDK's sockets do} Without, where {@code java.net} is not open to this module. */
    private static SocketImpl throughProxies() throws IOException {
        SocketImpl direct = implementation(false);
        try {
            Class<?> kind = Class.forName(THROUGH_PROXIES);
            MethodHandle made = MethodHandles.privateLookupIn(kind, MethodHandles.lookup())
                    .findConstructor(kind, MethodType.methodType(void.class, SocketImpl.class));
            return (SocketImpl) made.invoke(direct);
        } catch (IllegalAccessException _) {
            return direct;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw JdkProvider.unlike(THROUGH_PROXIES, e);
        }
    }

    /**
     * {@return what the JDK makes its own sockets of}
     *
     * @param isServer whether it is for a server socket
     * @throws IOException if it is not exported to this module
     */
    static SocketImpl implementation(boolean isServer) throws IOException {
        try {
            MethodHandle made = MethodHandles.lookup().findConstructor(
                    Class.forName(IMPLEMENTATION),
                    MethodType.methodType(void.class, boolean.class));
            return (SocketImpl) made.invoke(isServer);
        } catch (IllegalAccessException e) {
            throw JdkProvider.outOfReach("sockets", e);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw JdkProvider.unlike(IMPLEMENTATION, e);
        }
    }
}
