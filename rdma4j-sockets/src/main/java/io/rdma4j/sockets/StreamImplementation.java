// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;

/** What a {@link java.net.Socket} of ours is made of: it connects, and does not listen. */
abstract class StreamImplementation extends SocketImplementation {
    StreamImplementation() {
        super(ChannelOptions.OF_STREAMS);
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void connect(InetAddress host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void listen(int backlog) throws IOException {
        throw new SocketException("a connected socket does not listen");
    }

    @Override
    protected void accept(SocketImpl accepted) throws IOException {
        throw new SocketException("a connected socket does not accept");
    }
}
