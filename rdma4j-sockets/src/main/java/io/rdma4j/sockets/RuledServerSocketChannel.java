// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Side;
import io.rdma4j.sockets.rules.SocketRules;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A listening channel that decides by rules, when it binds, whether it listens over RDMA, over TCP or for both; from then on it
 * hands everything to channels of these kinds. What was set before counts for them. Thread safe.
 */
final class RuledServerSocketChannel extends ServerSocketChannel implements ChannelReadiness.Owner {
    private final SocketRules rules;
    private final @Nullable ProtocolFamily family;
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final ChannelOptions options = new ChannelOptions(ChannelOptions.OF_LISTENERS);
    /** One of them, or the first with a thread that accepts over TCP. */
    private volatile @Nullable RdmaServerSocketChannel rdma;
    private volatile @Nullable ServerSocketChannel tcp;
    private volatile @Nullable Acceptor<SocketChannel> acceptor;
    /** Who waits for a connection of either kind. */
    private volatile @Nullable Thread waiting;
    private final ServerSocket socket = new ChannelServerSocket(this, new SocketOperations());

    private final ChannelReadiness readiness = new ChannelReadiness() {
        @Override
        int readyOps(int operations) {
            Acceptor<SocketChannel> beside = acceptor;
            if (beside != null && beside.hasAny()) {
                return operations;
            }
            RdmaServerSocketChannel over = rdma;
            return over == null ? 0 : over.readiness().readyOps(operations);
        }

        @Override
        @Nullable
        SelectableChannel delegate() {
            return tcp;
        }
    };

    RuledServerSocketChannel(SelectorProvider provider, SocketRules rules,
            @Nullable ProtocolFamily family) {
        super(provider);
        this.rules = rules;
        this.family = family;
    }

    @Override
    public ChannelReadiness readiness() {
        return readiness;
    }

    private void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** {@return what has its options and its address, null while it is not bound} */
    private @Nullable ServerSocketChannel bound() {
        RdmaServerSocketChannel over = rdma;
        return over == null ? tcp : over;
    }

    // ---------------------------------------------------------------- deciding

    @Override
    public RuledServerSocketChannel bind(@Nullable SocketAddress local, int backlog)
            throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            if (bound() != null) {
                throw new AlreadyBoundException();
            }
            InetSocketAddress at = ChannelAddresses.local(local, family);
            Rule rule = rules.decide(Side.LISTEN, at);
            try {
                switch (rule.way()) {
                    case RDMA -> adoptRdma(bound(overRdma(rule), at, backlog));
                    case TCP -> adoptTcp(openTcp(at, backlog));
                    case AUTO -> bindBoth(at, backlog, rule);
                }
            } catch (IOException e) {
                throw RuledErrors.explain(e, rule);
            }
            if (!isOpen()) {
                // It was closed meanwhile, by a thread that did not see what it listens with.
                closeBound();
                throw new AsynchronousCloseException();
            }
        } finally {
            stateLock.unlock();
        }
        return this;
    }

    private RdmaServerSocketChannel overRdma(Rule rule) {
        RdmaServerSocketChannel made = new RdmaServerSocketChannel(provider(), family);
        made.options().insteadOfTcp(rule);
        return made;
    }

    private ServerSocketChannel openTcp(InetSocketAddress at, int backlog) throws IOException {
        SelectorProvider jdk = JdkProvider.provider();
        return bound(family == null
                ? jdk.openServerSocketChannel()
                : jdk.openServerSocketChannel(family), at, backlog);
    }

    private <T extends ServerSocketChannel> T bound(T opened, InetSocketAddress at, int backlog)
            throws IOException {
        try {
            options.giveTo(opened.supportedOptions(), opened::setOption);
            opened.bind(at, backlog);
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    private void adoptRdma(RdmaServerSocketChannel opened) throws IOException {
        opened.readiness().forwardTo(readiness);
        synchronized (blockingLock()) {
            opened.configureBlocking(isBlocking());
            rdma = opened;
        }
        readiness.onReady(validOps());
    }

    private void adoptTcp(ServerSocketChannel opened) throws IOException {
        synchronized (blockingLock()) {
            opened.configureBlocking(isBlocking());
            tcp = opened;
        }
        readiness.onRedirected();
    }

    private void bindBoth(InetSocketAddress at, int backlog, Rule rule) throws IOException {
        ListenerPair<ServerSocketChannel, RdmaServerSocketChannel> made = ListenerPair.bind(at,
                rule,
                local -> openTcp(local, backlog),
                opened -> (InetSocketAddress) opened.socket().getLocalSocketAddress(),
                local -> {
                    RdmaServerSocketChannel overRdma = overRdma(rule);
                    overRdma.options().avoidPortsOfTcp();
                    return bound(overRdma, local, backlog);
                });
        RdmaServerSocketChannel overRdma = made.rdma();
        if (overRdma == null) {
            adoptTcp(made.tcp());
        } else {
            adoptBoth(overRdma, made.tcp());
        }
    }

    private void adoptBoth(RdmaServerSocketChannel overRdma, ServerSocketChannel overTcp)
            throws IOException {
        Acceptor<SocketChannel> beside = new Acceptor<>(Acceptor.Source.of(overTcp),
                this::onAccepted);
        acceptor = beside;
        overRdma.readiness().forwardTo(readiness);
        readiness.add(new Waking());
        overRdma.configureBlocking(false);
        rdma = overRdma;
        beside.start();
        readiness.onReady(validOps());
    }

    private void onAccepted() {
        readiness.onReady(validOps());
    }

    /** Wakes who waits for a connection of either kind. */
    private final class Waking implements ChannelReadiness.Listener {
        @Override
        public void onReady(int operations) {
            LockSupport.unpark(waiting);
        }

        @Override
        public void onRedirected() {
            // It listens for both for good.
        }

        @Override
        public void onRelease() {
            // No selector has it.
        }

        @Override
        public boolean isSelected() {
            return false;
        }
    }

    // ---------------------------------------------------------------- accepting

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(0);
    }

    /**
     * {@return the next connection; null if there is none and the channel does not block}
     *
     * @param timeoutMs 0 for no limit; not looked at if the channel does not block
     * @throws java.net.SocketTimeoutException if there is none in time
     */
    @Nullable
    SocketChannel accept(int timeoutMs) throws IOException {
        acceptLock.lock();
        try {
            requireOpen();
            RdmaServerSocketChannel over = rdma;
            ServerSocketChannel overTcp = tcp;
            if (over == null && overTcp == null) {
                requireNoInterruption();
                throw new NotYetBoundException();
            }
            Acceptor<SocketChannel> beside = acceptor;
            if (over != null && beside != null) {
                return acceptAny(over, beside, timeoutMs);
            }
            ServerSocketChannel one = over == null ? Objects.requireNonNull(overTcp) : over;
            try {
                return ours(acceptFrom(one, timeoutMs));
            } catch (IOException e) {
                if (!one.isOpen() && isOpen()) {
                    close();
                }
                throw e;
            }
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

    private static @Nullable SocketChannel acceptFrom(ServerSocketChannel one, int timeoutMs)
            throws IOException {
        if (timeoutMs == 0 || !one.isBlocking()) {
            return one.accept();
        }
        ServerSocket timed = one.socket();
        timed.setSoTimeout(timeoutMs);
        return timed.accept().getChannel();
    }

    private @Nullable SocketChannel ours(@Nullable SocketChannel accepted) {
        return accepted == null || accepted instanceof RdmaSocketChannel
                ? accepted
                : RuledSocketChannel.ofAccepted(provider(), rules, accepted);
    }

    private @Nullable SocketChannel acceptAny(RdmaServerSocketChannel over,
            Acceptor<SocketChannel> beside,
            int timeoutMs) throws IOException {
        if (!isBlocking()) {
            return pollAny(over, beside);
        }
        SocketChannel accepted = null;
        long endNs = System.nanoTime() + timeoutMs * 1_000_000L;
        try {
            begin();
            waiting = Thread.currentThread();
            accepted = pollAny(over, beside);
            while (accepted == null && isOpen()) {
                long leftNs = timeoutMs == 0 ? Long.MAX_VALUE : endNs - System.nanoTime();
                if (leftNs <= 0) {
                    throw new java.net.SocketTimeoutException("Accept timed out");
                }
                LockSupport.parkNanos(this, leftNs);
                accepted = pollAny(over, beside);
            }
        } finally {
            waiting = null;
            end(accepted);
        }
        return accepted;
    }

    /** An interrupt may come when the connection is taken already: then nobody gets it, and it ends. */
    private void end(@Nullable SocketChannel accepted) throws IOException {
        try {
            end(accepted != null);
        } catch (AsynchronousCloseException e) {
            if (accepted != null) {
                accepted.close();
            }
            throw e;
        }
    }

    private @Nullable SocketChannel pollAny(RdmaServerSocketChannel over,
            Acceptor<SocketChannel> beside)
            throws IOException {
        if (!isOpen()) {
            return null;
        }
        SocketChannel accepted = over.accept();
        return accepted == null ? ours(beside.poll()) : accepted;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        ServerSocketChannel one = bound();
        return one == null ? null : one.getLocalAddress();
    }

    // ---------------------------------------------------------------- options

    @Override
    public <T> RuledServerSocketChannel setOption(SocketOption<T> name, T value)
            throws IOException {
        ServerSocketChannel one = bound();
        if (one != null) {
            one.setOption(name, value);
            return this;
        }
        options.change(name, value, this);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        ServerSocketChannel one = bound();
        if (one != null) {
            return one.getOption(name);
        }
        return options.value(name, this);
    }

    /** {@return those of the channel it listens with; before, what can be kept for it} */
    @Override
    public Set<SocketOption<?>> supportedOptions() {
        ServerSocketChannel one = bound();
        return one == null ? options.supported() : one.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        return socket;
    }

    /** What the socket needs of the channel. */
    private final class SocketOperations implements ChannelServerSocket.Operations {
        @Override
        public SocketChannel accept(long timeoutNs) throws IOException {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return Objects.requireNonNull(RuledServerSocketChannel.this
                    .accept(RuledOperations.milliseconds(timeoutNs)));
        }

        @Override
        public @Nullable InetSocketAddress local() {
            ServerSocketChannel one = bound();
            return one == null
                    ? null
                    : (InetSocketAddress) one.socket().getLocalSocketAddress();
        }
    }

    // ---------------------------------------------------------------- closing

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        closeBound();
        LockSupport.unpark(waiting);
        readiness.onReady(validOps());
    }

    private void closeBound() throws IOException {
        RdmaServerSocketChannel over = rdma;
        ServerSocketChannel overTcp = tcp;
        Acceptor<SocketChannel> beside = acceptor;
        if (beside != null) {
            beside.close();
        }
        if (over != null) {
            over.close();
        }
        if (overTcp != null) {
            overTcp.close();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) throws IOException {
        if (isBlocking) {
            readiness.releaseDelegate();
        }
        if (acceptor != null) {
            // Each call asks how to wait; one under way ends first, as on the JDK's channels.
            RdmaSocketChannel.awaitFree(acceptLock);
            return;
        }
        ServerSocketChannel one = bound();
        if (one != null) {
            one.configureBlocking(isBlocking);
        }
    }

    @Override
    public String toString() {
        ServerSocketChannel one = bound();
        return getClass().getSimpleName() + "["
                + (one == null ? isOpen() ? "unbound" : "closed" : one)
                + (acceptor == null ? "" : " and over TCP") + "]";
    }
}
