// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.KnownErrno;
import io.rdma4j.softnic.network.linux.calls.EpollEvents;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;
import io.rdma4j.softnic.network.linux.calls.Watchers;
import io.rdma4j.softnic.network.stream.Stream;
import org.jspecify.annotations.Nullable;

import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_TCP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_KEEPALIVE;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.TCP_NODELAY;

/**
 * A stream on a socket of Linux.
 *
 * <p>The epoll set reports each change only once. So the stream remembers that there may be bytes to read until a read
 * returns nothing, and meanwhile its network calls it again.
 */
final class LinuxStream implements Stream, Watchers.Watcher {
    private static final int WATCHED = EpollEvents.EPOLLIN | EpollEvents.EPOLLOUT
            | EpollEvents.EPOLLRDHUP | EpollEvents.EPOLLET;
    private static final int ENDING = EpollEvents.EPOLLERR | EpollEvents.EPOLLHUP
            | EpollEvents.EPOLLRDHUP;

    private final LinuxStreams network;
    private final TcpCalls calls;
    private final int socket;
    private final InetSocketAddress remote;
    private InetSocketAddress local = new InetSocketAddress(0);
    private long key;
    private @Nullable Handler handler;
    private boolean isConnecting;
    private boolean isReadable;
    /** The other side has ended its writing, or the connection is broken; there may still be bytes to read. */
    private boolean isEnding;
    private boolean isWriteWanted;
    private boolean isClosed;

    LinuxStream(LinuxStreams network, int socket, InetSocketAddress remote) {
        this.network = network;
        this.calls = network.calls();
        this.socket = socket;
        this.remote = remote;
        calls.setOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
        // A peer that has vanished without a word is noticed some time.
        calls.setOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    }

    /**
     * Registers for the events of the socket.
     *
     * @param isConnectingNow whether the first event is the outcome of connecting
     */
    void watch(boolean isConnectingNow) throws LinuxSocket.Refused {
        isConnecting = isConnectingNow;
        local = calls.local(socket);
        key = network.watch(socket, WATCHED, this);
    }

    // ---------------------------------------------------------------- what has happened

    @Override
    public void onEvents(int bits) {
        if (isConnecting) {
            // A peer that speaks at once is part of the same event, which is not repeated.
            finishConnecting();
        } else if ((bits & EpollEvents.EPOLLOUT) != 0 && isWriteWanted) {
            isWriteWanted = false;
            Handler present = handler;
            if (present != null) {
                present.onWritable();
            }
        }
        if ((bits & (EpollEvents.EPOLLIN | ENDING)) != 0) {
            isReadable = true;
            isEnding |= (bits & ENDING) != 0;
            onReadable();
        }
    }

    /** Calls the user to read, and notes whether there may be more. */
    void onReadable() {
        Handler present = handler;
        try {
            if (present != null && !isClosed) {
                present.onReadable();
            }
        } finally {
            if (isReadable && !isClosed) {
                network.onUnread(this);
            }
        }
    }

    private void finishConnecting() {
        int failure = calls.pendingError(socket);
        if (failure != 0) {
            refuse(failure);
            return;
        }
        isConnecting = false;
        try {
            local = calls.local(socket);
        } catch (LinuxSocket.Refused e) {
            refuse(e.errno());
            return;
        }
        Handler present = handler;
        if (present != null) {
            present.onConnected();
        }
    }

    /** It is not connected, and its user learns why. */
    void refuse(int failure) {
        isConnecting = false;
        Handler present = isClosed ? null : handler;
        close();
        if (present != null) {
            present.onRefused(KnownErrno.of(failure));
        }
    }

    /** {@return whether the user waits for room to write} */
    boolean isWriteWanted() {
        return isWriteWanted;
    }

    // ---------------------------------------------------------------- for its user

    @Override
    public void handler(Handler newHandler) {
        handler = newHandler;
    }

    @Override
    public InetSocketAddress local() {
        return local;
    }

    @Override
    public InetSocketAddress remote() {
        return remote;
    }

    @Override
    public int read(ByteBuffer into) {
        if (isClosed) {
            return END;
        }
        int room = into.remaining();
        if (room == 0) {
            return 0;
        }
        int length = into.isDirect() ? receive(into, room) : receiveOnHeap(into, room);
        if (length > 0) {
            into.position(into.position() + length);
            network.onRead(this);
            // A short read means that there is no more, except perhaps the end.
            isReadable = length == room || isEnding;
        }
        return length;
    }

    private int receiveOnHeap(ByteBuffer into, int room) {
        ByteBuffer between = network.between();
        int length = receive(between.clear(), Math.min(room, between.capacity()));
        if (length > 0) {
            into.put(into.position(), between, 0, length);
        }
        return length;
    }

    /** {@return the number of bytes, 0 if there are none now, {@link #END}} */
    private int receive(ByteBuffer into, int room) {
        try {
            long address = network.received().of(into);
            long length = TcpCalls.receive(socket, address, room);
            if (length < 0 && isEnding) {
                // The event announced bytes or an end; this call finds out which.
                length = calls.receiveOrFail(socket, address, room);
                isEnding = length != -LinuxCalls.EAGAIN;
            }
            if (length > 0) {
                return (int) length;
            }
            isReadable = false;
            return length == 0 || isEnding ? END : 0;
        } finally {
            Reference.reachabilityFence(into);
        }
    }

    @Override
    public int write(ByteBuffer from) {
        if (isClosed) {
            return END;
        }
        int written = 0;
        while (from.hasRemaining()) {
            int length = from.isDirect() ? send(from) : sendFromHeap(from);
            if (length == END) {
                return END;
            }
            written += length;
            if (isWriteWanted) {
                break;
            }
        }
        return written;
    }

    private int sendFromHeap(ByteBuffer from) {
        ByteBuffer between = network.between().clear();
        int length = Math.min(from.remaining(), between.capacity());
        between.put(0, from, from.position(), length).limit(length);
        int sent = send(between);
        if (sent > 0) {
            from.position(from.position() + sent);
        }
        return sent;
    }

    /** {@return the number of bytes accepted, or {@link #END}} If not all were, an event reports when there is room. */
    private int send(ByteBuffer from) {
        try {
            int wanted = from.remaining();
            long sent = calls.send(socket, network.sent().of(from), wanted);
            if (sent < 0 && sent != -LinuxCalls.EAGAIN) {
                return END;
            }
            int length = (int) Math.max(0, sent);
            from.position(from.position() + length);
            isWriteWanted |= length < wanted;
            return length;
        } finally {
            Reference.reachabilityFence(from);
        }
    }

    @Override
    public boolean isAcknowledged() {
        return isClosed || calls.unacknowledged(socket) <= 0;
    }

    @Override
    public void finish() {
        if (!isClosed) {
            // If the connection is broken, the next read reports the end.
            calls.finish(socket);
        }
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            network.forget(this, key);
            LinuxCalls.close(socket);
        }
    }

    @Override
    public void reset() {
        if (!isClosed) {
            calls.resetWhenClosed(socket);
            close();
        }
    }
}
