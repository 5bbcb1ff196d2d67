// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** What the socket of a {@link RuledSocketChannel} needs of it; what can time out over TCP is done by the JDK's socket. */
final class RuledOperations implements BlockingOperations {
    private final RuledSocketChannel channel;

    RuledOperations(RuledSocketChannel channel) {
        this.channel = channel;
    }

    private void requireBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    /** {@return a time in the unit of sockets, at least 1; 0 for no limit} */
    static int milliseconds(long timeoutNs) {
        return timeoutNs == Long.MAX_VALUE
                ? 0
                : Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNs), 1, Integer.MAX_VALUE);
    }

    @Override
    public int read(ByteBuffer into, long timeoutNs) throws IOException {
        requireBlocking();
        SocketChannel made = channel.chosen();
        if (made == null || timeoutNs == Long.MAX_VALUE) {
            return channel.read(into);
        }
        try {
            return made instanceof RdmaSocketChannel rdma
                    ? rdma.read(into, timeoutNs)
                    : readInTime(made, into, timeoutNs);
        } catch (IOException e) {
            throw channel.ended(e, made);
        }
    }

    private static int readInTime(SocketChannel made, ByteBuffer into, long timeoutNs)
            throws IOException {
        Socket timed = made.socket();
        timed.setSoTimeout(milliseconds(timeoutNs));
        int count = timed.getInputStream().read(into.array(),
                into.arrayOffset() + into.position(), into.remaining());
        into.position(into.position() + Math.max(0, count));
        return count;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        requireBlocking();
        return channel.write(from);
    }

    @Override
    public void connect(SocketAddress remote, long timeoutNs) throws IOException {
        requireBlocking();
        if (timeoutNs == Long.MAX_VALUE) {
            boolean _ = channel.connect(remote);
        } else {
            channel.connect(remote, milliseconds(timeoutNs));
        }
    }

    @Override
    public int available() {
        SocketChannel made = channel.chosen();
        if (made instanceof RdmaSocketChannel rdma) {
            SocketConnection connection = rdma.connection();
            return connection == null ? 0 : connection.available();
        }
        try {
            return made == null ? 0 : made.socket().getInputStream().available();
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public @Nullable InetSocketAddress local() {
        SocketChannel made = channel.chosen();
        if (made instanceof RdmaSocketChannel rdma) {
            return rdma.local();
        }
        return made == null
                ? channel.heldAddress()
                : (InetSocketAddress) made.socket().getLocalSocketAddress();
    }

    @Override
    public @Nullable InetSocketAddress remote() {
        SocketChannel made = channel.chosen();
        if (made instanceof RdmaSocketChannel rdma) {
            return rdma.remote();
        }
        return made == null
                ? channel.attempted()
                : (InetSocketAddress) made.socket().getRemoteSocketAddress();
    }

    @Override
    public boolean isInputShut() {
        SocketChannel made = channel.chosen();
        return made instanceof RdmaSocketChannel rdma
                ? rdma.isInputShut()
                : made != null && made.socket().isInputShutdown();
    }

    @Override
    public boolean isOutputShut() {
        SocketChannel made = channel.chosen();
        return made instanceof RdmaSocketChannel rdma
                ? rdma.isOutputShut()
                : made != null && made.socket().isOutputShutdown();
    }
}
