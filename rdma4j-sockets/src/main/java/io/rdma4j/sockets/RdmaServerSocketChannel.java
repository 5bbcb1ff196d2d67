// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.sockets.engine.SocketListener;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A channel that listens for connections over RDMA, on every device that has the address. It accepts them by itself, as many as its
 * backlog has room for, and {@link #accept} hands them out in the order in which they stood; so a peer is connected before
 * anybody calls {@link #accept}, as with TCP.
 *
 * <p>As {@link ServerSocketChannel} says: blocking and not, closed and interrupted by other threads. It can be
 * registered with a selector of {@link RdmaSockets#openSelector}. C: a listening {@code rsocket}. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaServerSocketChannel extends ChannelReadiness.OfListeners {
    /** As {@link ServerSocket} has it. */
    private static final int BACKLOG = 50;

    private final @Nullable ProtocolFamily family;
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ChannelOptions options = new ChannelOptions(ChannelOptions.OF_LISTENERS);
    private volatile @Nullable SocketListener listener;
    private final ServerSocket socket = new ChannelServerSocket(this, new SocketOperations());
    private final ChannelReadiness readiness = new ChannelReadiness() {
        @Override
        int readyOps(int operations) {
            SocketListener bound = listener;
            return bound != null && bound.hasInput() ? operations : 0;
        }
    };

    RdmaServerSocketChannel(SelectorProvider provider, @Nullable ProtocolFamily family) {
        super(provider);
        this.family = family;
    }

    @Override
    ChannelReadiness readiness() {
        return readiness;
    }

    private void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** {@return its options} */
    ChannelOptions options() {
        return options;
    }

    /**
     * Binds to a local address and listens. C: {@index rbind}, {@index rlisten}.
     *
     * @param local an address of a device, the wildcard address for all devices, or null for any; port 0 for any
     * @param backlog how many connections may stand that nobody has taken; 0 or less for a default
     * @throws java.net.BindException if the address or the port cannot be had
     */
    @Override
    public RdmaServerSocketChannel bind(@Nullable SocketAddress local, int backlog)
            throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            if (listener != null) {
                throw new AlreadyBoundException();
            }
            listener = SocketListener.listen(SocketEngine.ofProcess(), options.settings(),
                    ChannelAddresses.local(local, family), backlog < 1 ? BACKLOG : backlog,
                    readiness);
        } finally {
            stateLock.unlock();
        }
        // A connection that has come before the listener was known here has not made it ready.
        readiness.onReady(SelectionKey.OP_ACCEPT);
        return this;
    }

    /**
     * {@return the next connection; null if there is none and the channel does not block} C: {@index raccept}.
     *
     * @throws java.net.SocketException if the device is gone
     */
    @Override
    public @Nullable RdmaSocketChannel accept() throws IOException {
        return accept(Long.MAX_VALUE);
    }

    private @Nullable RdmaSocketChannel accept(long timeoutNs) throws IOException {
        acceptLock.lock();
        try {
            requireOpen();
            SocketListener from = listener;
            if (from == null) {
                requireNoInterruption();
                throw new NotYetBoundException();
            }
            SocketConnection accepted = isBlocking()
                    ? await(from, TimeLimit.in(timeoutNs))
                    : from.poll();
            return accepted == null ? null : connected(accepted);
        } finally {
            acceptLock.unlock();
        }
    }

    /** As over TCP: a thread that is interrupted when it comes to wait closes the channel, whatever else is wrong. */
    private void requireNoInterruption() throws AsynchronousCloseException {
        if (isBlocking()) {
            begin();
            end(false);
        }
    }

    private @Nullable SocketConnection await(SocketListener from, TimeLimit limit)
            throws IOException {
        SocketConnection accepted = null;
        try {
            begin();
            accepted = from.poll();
            while (accepted == null && isOpen()) {
                from.await(limit.leftNs());
                accepted = from.poll();
                if (accepted == null && limit.isOver() && isOpen()) {
                    throw new SocketTimeoutException("Accept timed out");
                }
            }
        } finally {
            end(accepted);
        }
        return accepted;
    }

    /** An interrupt may come when the connection is taken already: then nobody gets it, and it ends. */
    private void end(@Nullable SocketConnection accepted) throws AsynchronousCloseException {
        try {
            end(accepted != null);
        } catch (AsynchronousCloseException e) {
            if (accepted != null) {
                accepted.close(0);
            }
            throw e;
        }
    }

    private RdmaSocketChannel connected(SocketConnection accepted) {
        return new RdmaSocketChannel(provider(), family, accepted, options);
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        SocketListener bound = listener;
        return bound == null ? null : bound.localAddress();
    }

    @Override
    public <T> RdmaServerSocketChannel setOption(SocketOption<T> name, T value)
            throws IOException {
        options.change(name, value, this);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return options.value(name, this);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    /**
     * {@return a server socket that stands for this channel} It accepts only while the channel blocks, and takes a time for that.
     */
    @Override
    public ServerSocket socket() {
        return socket;
    }

    private final class SocketOperations implements ChannelServerSocket.Operations {
        @Override
        public SocketChannel accept(long timeoutNs) throws IOException {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return Objects.requireNonNull(RdmaServerSocketChannel.this.accept(timeoutNs));
        }

        @Override
        public @Nullable InetSocketAddress local() {
            SocketListener bound = listener;
            return bound == null ? null : bound.localAddress();
        }
    }

    @Override
    protected void implCloseSelectableChannel() {
        stateLock.lock();
        try {
            SocketListener left = listener;
            if (left != null) {
                left.close();
            }
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) {
        // Each call asks how to wait; one under way ends first, as on the JDK's channels.
        RdmaSocketChannel.awaitFree(acceptLock);
    }

    @Override
    public String toString() {
        SocketListener bound = listener;
        InetSocketAddress address = bound == null ? null : bound.localAddress();
        return getClass().getSimpleName()
                + (isOpen() ? address == null ? "[unbound]" : "[" + address + "]" : "[closed]");
    }
}
