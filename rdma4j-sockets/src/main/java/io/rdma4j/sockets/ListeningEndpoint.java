// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.BoundId;
import io.rdma4j.sockets.engine.ReadinessListener;
import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.sockets.engine.SocketListener;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketImpl;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/** What a {@link java.net.ServerSocket} over RDMA is made of. What that class checks is not checked here. Thread safe. */
final class ListeningEndpoint extends ListenerImplementation {
    private final @Nullable ProtocolFamily family;
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final ReentrantLock stateLock = new ReentrantLock();
    private @Nullable InetSocketAddress wanted;
    private @Nullable BoundId bound;
    private volatile @Nullable SocketListener listener;
    private final ForgottenSocket forgotten;

    /** @param family whose addresses it takes, null for both */
    ListeningEndpoint(@Nullable ProtocolFamily family) {
        this.family = family;
        forgotten = new ForgottenSocket(this);
    }

    /** {@return its options} */
    ChannelOptions options() {
        return options.named();
    }

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            InetSocketAddress local = ChannelAddresses.local(host, port, family);
            wanted = local;
            BoundId made = BoundId.bind(SocketEngine.ofProcess(), options.named().settings(),
                    local);
            bound = made;
            forgotten.closesBy(made::close);
            address = host;
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    protected void listen(int backlog) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            BoundId taken = Objects.requireNonNull(bound);
            bound = null;
            SocketListener made = SocketListener.listen(SocketEngine.ofProcess(),
                    options.named().settings(), taken, Objects.requireNonNull(wanted), backlog,
                    ReadinessListener.NONE);
            listener = made;
            forgotten.closesBy(made::close);
            localport = made.localAddress().getPort();
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    protected void accept(SocketImpl accepted) throws IOException {
        acceptLock.lock();
        try {
            SocketListener from = Objects.requireNonNull(listener);
            TimeLimit limit = options.limit();
            SocketConnection taken = null;
            while (taken == null) {
                requireOpen();
                SocketWait.until(() -> from.hasInput() || isClosed(), from::await, limit, "Accept");
                requireOpen();
                taken = from.poll();
            }
            ((StreamEndpoint) accepted).accepted(taken, options.named());
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    protected void close() {
        stateLock.lock();
        try {
            markClosed();
            BoundId unused = bound;
            if (unused != null) {
                unused.close();
            }
            SocketListener left = listener;
            if (left != null) {
                left.close();
            }
            forgotten.forget();
        } finally {
            stateLock.unlock();
        }
    }
}
