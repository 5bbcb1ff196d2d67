package io.rdma4j.sockets;

import java.net.Socket;
import java.net.SocketException;

/** A socket over RDMA. All that it does is the JDK's, on a {@link StreamEndpoint}. */
final class RdmaSocket extends Socket {
    private RdmaSocket(StreamEndpoint stream) throws SocketException {
        super(stream);
    }

    static RdmaSocket open() {
        try {
            return new RdmaSocket(new StreamEndpoint());
        } catch (SocketException e) {
            throw new IllegalStateException("nothing is opened that could fail", e);
        }
    }
}
