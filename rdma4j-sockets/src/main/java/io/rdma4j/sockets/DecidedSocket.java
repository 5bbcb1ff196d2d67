// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.Set;

/** A socket or a server socket, as far as another one goes on as it: these have no type of the JDK in common. Thread safe. */
sealed interface DecidedSocket {
    /** {@return whether all options are its own: it does more than to hold a port} */
    boolean isInUse();

    InetAddress localAddress();

    Set<SocketOption<?>> supported();

    <T> void set(SocketOption<T> name, T value) throws IOException;

    <T> T get(SocketOption<T> name) throws IOException;

    /** Sets how long a read or an accept may take. */
    void limit(int milliseconds) throws SocketException;

    void urgentInline(boolean isInline) throws SocketException;

    /** A socket. */
    record OfConnection(Socket socket) implements DecidedSocket {
        @Override
        public boolean isInUse() {
            return socket.isConnected();
        }

        @Override
        public InetAddress localAddress() {
            return socket.getLocalAddress();
        }

        @Override
        public Set<SocketOption<?>> supported() {
            return socket.supportedOptions();
        }

        @Override
        public <T> void set(SocketOption<T> name, T value) throws IOException {
            Socket _ = socket.setOption(name, value);
        }

        @Override
        public <T> T get(SocketOption<T> name) throws IOException {
            return socket.getOption(name);
        }

        @Override
        public void limit(int milliseconds) throws SocketException {
            socket.setSoTimeout(milliseconds);
        }

        @Override
        public void urgentInline(boolean isInline) throws SocketException {
            socket.setOOBInline(isInline);
        }
    }

    /** A server socket. */
    record OfListener(ServerSocket socket) implements DecidedSocket {
        @Override
        public boolean isInUse() {
            return true;
        }

        @Override
        public InetAddress localAddress() {
            return socket.getInetAddress();
        }

        @Override
        public Set<SocketOption<?>> supported() {
            return socket.supportedOptions();
        }

        @Override
        public <T> void set(SocketOption<T> name, T value) throws IOException {
            ServerSocket _ = socket.setOption(name, value);
        }

        @Override
        public <T> T get(SocketOption<T> name) throws IOException {
            return socket.getOption(name);
        }

        @Override
        public void limit(int milliseconds) throws SocketException {
            socket.setSoTimeout(milliseconds);
        }

        @Override
        public void urgentInline(boolean isInline) {
            // What listens has no such data.
        }
    }
}
