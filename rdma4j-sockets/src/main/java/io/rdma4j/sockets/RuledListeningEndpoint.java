// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Side;
import io.rdma4j.sockets.rules.SocketRules;
import io.rdma4j.sockets.rules.Way;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a {@link ServerSocket} is made of that decides by rules, when it is bound, whether it listens over RDMA, over TCP or for both; from
 * then on it hands everything to server sockets of these kinds. What was set before counts for them. Thread safe.
 */
final class RuledListeningEndpoint extends ListenerImplementation {
    private final SocketRules rules;
    private final ReentrantLock stateLock = new ReentrantLock();
    /** What has its address; null while that is not decided. */
    private volatile @Nullable ServerSocket listener;
    /** If it listens for both, which then accepts. */
    private volatile @Nullable EitherListener either;
    private @Nullable InetSocketAddress wanted;
    /** Threads accept for both, and hold their server sockets; one alone is closed by itself. */
    private final ForgottenSocket forgotten;

    RuledListeningEndpoint(SocketRules rules) {
        this.rules = rules;
        forgotten = new ForgottenSocket(this);
        if (rules.only(Side.LISTEN) == Way.TCP) {
            // So it has all options of the JDK's.
            try {
                use(TcpSockets.serverSocket());
            } catch (IOException e) {
                throw new UncheckedIOException("sockets of the JDK were in reach before", e);
            }
        }
    }

    private void use(ServerSocket made) {
        listener = made;
        options.decide(new DecidedSocket.OfListener(made));
    }

    // ---------------------------------------------------------------- deciding

    /** The JDK calls {@link #listen} next, which binds. */
    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            wanted = new InetSocketAddress(host, port);
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
            ServerSocket present = listener;
            if (present != null && present.isBound()) {
                throw new SocketException("Already bound");
            }
            InetSocketAddress at = Objects.requireNonNull(wanted);
            Rule rule = rules.decide(Side.LISTEN, at);
            ServerSocket made;
            try {
                made = switch (rule.way()) {
                    case RDMA -> overRdma(rule, at, backlog);
                    case TCP -> bound(present == null || present.isClosed()
                            ? TcpSockets.serverSocket()
                            : present, at, backlog);
                    case AUTO -> both(rule, at, backlog);
                };
            } catch (IOException e) {
                throw RuledErrors.explain(e, rule);
            }
            use(made);
            localport = made.getLocalPort();
        } finally {
            stateLock.unlock();
        }
    }

    private ServerSocket overRdma(Rule rule, InetSocketAddress at, int backlog)
            throws IOException {
        RdmaServerSocket opened = new RdmaServerSocket(null);
        opened.options().insteadOfTcp(rule);
        return bound(opened, at, backlog);
    }

    private ServerSocket bound(ServerSocket opened, InetSocketAddress at, int backlog)
            throws IOException {
        try {
            options.giveTo(new DecidedSocket.OfListener(opened));
            opened.bind(at, backlog);
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    private ServerSocket both(Rule rule, InetSocketAddress at, int backlog) throws IOException {
        ListenerPair<ServerSocket, ServerSocket> made = ListenerPair.bind(at, rule,
                local -> bound(TcpSockets.serverSocket(), local, backlog),
                opened -> (InetSocketAddress) opened.getLocalSocketAddress(), local -> {
                    RdmaServerSocket opened = new RdmaServerSocket(null);
                    opened.options().insteadOfTcp(rule);
                    opened.options().avoidPortsOfTcp();
                    return bound(opened, local, backlog);
                });
        ServerSocket overRdma = made.rdma();
        if (overRdma == null) {
            return made.tcp();
        }
        options.keepLimit(new DecidedSocket.OfListener(overRdma));
        options.keepLimit(new DecidedSocket.OfListener(made.tcp()));
        EitherListener opened = new EitherListener(overRdma, made.tcp());
        either = opened;
        forgotten.closesBy(opened::end);
        opened.start();
        return overRdma;
    }

    // ---------------------------------------------------------------- accepting

    @Override
    protected void accept(SocketImpl accepted) throws IOException {
        if (!(accepted instanceof RuledStreamEndpoint taker)) {
            throw new SocketException("a server socket that goes by rules gives its connections to"
                    + " sockets that do, not to " + accepted.getClass().getName());
        }
        requireOpen();
        EitherListener both = either;
        taker.accepted(both == null
                ? accepted(Objects.requireNonNull(listener))
                : both.accept(options.limit()));
    }

    private static Socket accepted(ServerSocket one) throws IOException {
        try {
            return one.accept();
        } catch (IOException e) {
            throw SocketExceptions.ofInner(e, one.isClosed());
        }
    }

    @Override
    protected void close() throws IOException {
        ServerSocket left;
        EitherListener both;
        stateLock.lock();
        try {
            markClosed();
            left = listener;
            both = either;
        } finally {
            stateLock.unlock();
        }
        forgotten.forget();
        if (both != null) {
            both.close();
        } else if (left != null) {
            left.close();
        }
    }
}
