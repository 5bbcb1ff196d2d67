// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** A server socket over RDMA. All that it does is the JDK's, on a {@link ListeningEndpoint}, but for the kind of its sockets. */
final class RdmaServerSocket extends ServerSocket {
    private final ListeningEndpoint listener;

    RdmaServerSocket(@Nullable ProtocolFamily family) {
        this(new ListeningEndpoint(family));
    }

    private RdmaServerSocket(ListeningEndpoint listener) {
        super(listener);
        this.listener = listener;
    }

    /** {@return its options} */
    ChannelOptions options() {
        return listener.options();
    }

    @Override
    public Socket accept() throws IOException {
        if (isClosed()) {
            throw new SocketException("Socket is closed");
        }
        if (!isBound()) {
            throw new SocketException("Socket is not bound yet");
        }
        RdmaSocket accepted = RdmaSocket.open(null);
        implAccept(accepted);
        return accepted;
    }
}
