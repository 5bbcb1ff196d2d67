// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketException;

/** A socket over RDMA. All that it does is the JDK's, on a {@link StreamEndpoint}. */
final class RdmaSocket extends Socket {
    private final StreamEndpoint stream;

    private RdmaSocket(StreamEndpoint stream) throws SocketException {
        super(stream);
        this.stream = stream;
    }

    /** {@return its options} */
    ChannelOptions options() {
        return stream.options();
    }

    /** {@return as {@link StreamEndpoint#openedInNs}} */
    long openedInNs() {
        return stream.openedInNs();
    }

    /** {@return one that takes addresses of the family, of both without one} */
    static RdmaSocket open(@Nullable ProtocolFamily family) {
        try {
            return new RdmaSocket(new StreamEndpoint(family));
        } catch (SocketException e) {
            throw new IllegalStateException("nothing is opened that could fail", e);
        }
    }
}
