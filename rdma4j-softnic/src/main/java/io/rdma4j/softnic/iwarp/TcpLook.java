// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.jdk.TcpSockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A look whether a program accepts TCP connections at an address, by one that carries nothing. */
final class TcpLook {
    /** Time for a second packet if the first is lost, which TCP sends after one second. */
    private static final int PATIENCE_MS = 2000;

    private TcpLook() {}

    static boolean isAccepted(InetAddress source, InetSocketAddress destination) {
        try (Socket socket = TcpSockets.socket()) {
            socket.bind(new InetSocketAddress(source, 0));
            socket.connect(destination, PATIENCE_MS);
            // A socket whose port the system has chosen may meet itself.
            return !destination.equals(socket.getLocalSocketAddress());
        } catch (IOException | IllegalArgumentException nobody) {
            return false;
        }
    }
}
