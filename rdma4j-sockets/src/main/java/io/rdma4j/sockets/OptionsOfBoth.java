// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.TcpSockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.util.HashSet;
import java.util.Set;

/** The options that plain sockets take while nothing is decided: each kind gets those that it has. */
final class OptionsOfBoth {
    /** Those of the JDK's sockets. */
    static final Set<SocketOption<?>> TCP = ofSockets();
    /** Those of the JDK's server sockets. */
    static final Set<SocketOption<?>> TCP_LISTENERS = ofServerSockets();

    private OptionsOfBoth() {}

    private static Set<SocketOption<?>> ofSockets() {
        try (Socket asked = TcpSockets.socket()) {
            return asked.supportedOptions();
        } catch (IOException e) {
            throw new UncheckedIOException("sockets of the JDK were in reach before", e);
        }
    }

    private static Set<SocketOption<?>> ofServerSockets() {
        try (ServerSocket asked = TcpSockets.serverSocket()) {
            return asked.supportedOptions();
        } catch (IOException e) {
            throw new UncheckedIOException("sockets of the JDK were in reach before", e);
        }
    }

    static Set<SocketOption<?>> of(Set<SocketOption<?>> ours, Set<SocketOption<?>> ofTcp) {
        Set<SocketOption<?>> both = new HashSet<>(ours);
        both.addAll(ofTcp);
        return Set.copyOf(both);
    }
}
