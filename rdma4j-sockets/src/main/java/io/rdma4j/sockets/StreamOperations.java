// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;

/** What the socket of an {@link RdmaSocketChannel} needs of it. */
final class StreamOperations implements BlockingOperations {
    private final RdmaSocketChannel channel;

    StreamOperations(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    private void requireBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    @Override
    public int read(ByteBuffer into, long timeoutNs) throws IOException {
        requireBlocking();
        return channel.read(into, timeoutNs);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        requireBlocking();
        return channel.write(from);
    }

    @Override
    public void connect(SocketAddress remote, long timeoutNs) throws IOException {
        requireBlocking();
        channel.connect(remote, timeoutNs);
    }

    @Override
    public int available() {
        SocketConnection made = channel.connection();
        return made == null ? 0 : made.available();
    }

    @Override
    public @Nullable InetSocketAddress local() {
        return channel.local();
    }

    @Override
    public @Nullable InetSocketAddress remote() {
        return channel.remote();
    }

    @Override
    public boolean isInputShut() {
        return channel.isInputShut();
    }

    @Override
    public boolean isOutputShut() {
        return channel.isOutputShut();
    }
}
