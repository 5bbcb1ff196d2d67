package io.rdma4j.sockets;

import java.net.Socket;
import java.net.SocketException;

/** A socket over RDMA. All that it does is the JDK's, on a {@link StreamSocketImpl}. */
final class RdmaSocket extends Socket {
    private RdmaSocket(StreamSocketImpl stream) throws SocketException {
        super(stream);
    }

    static RdmaSocket open() {
        try {
            return new RdmaSocket(new StreamSocketImpl());
        } catch (SocketException e) {
            throw new IllegalStateException("nothing is opened that could fail", e);
        }
    }
}
