// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Side;
import io.rdma4j.sockets.rules.SocketRules;
import io.rdma4j.sockets.rules.Way;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A channel that decides by rules, when it connects, whether it goes over RDMA or over TCP; from then on it hands everything to a
 * channel of that kind. What was set before counts for it. Thread safe.
 *
 * <p>A channel of the JDK's is behind one of these, and not in the hands of the program, because a selector of ours learns of a
 * cancelled key only from its own channels.
 */
final class RuledSocketChannel extends SocketChannel implements ChannelReadiness.Owner {
    private final SocketRules rules;
    private final @Nullable ProtocolFamily family;
    /** Before the lock of the blocking mode. */
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ChosenChannel<SocketChannel> chosen = new ChosenChannel<>(this,
            ChannelOptions.OF_STREAMS);
    private volatile @Nullable Held held;
    private volatile @Nullable ConnectAttempt attempt;
    private volatile @Nullable Rule rule;
    private final Socket socket = ChannelSocket.of(this, new RuledOperations(this));

    /**
     * What it was bound to while it was open what it goes over.
     *
     * @param channel holds the port meanwhile, until something else is bound to it
     * @param asked what the program wanted
     * @param at where it is
     */
    private record Held(SocketChannel channel, InetSocketAddress asked, InetSocketAddress at) {}

    private final ChannelReadiness readiness = new ChannelReadiness() {
        @Override
        int readyOps(int operations) {
            ConnectAttempt pending = attempt;
            if (pending != null) {
                return pending.isDone() ? operations : 0;
            }
            return chosen.readyOps(operations);
        }

        @Override
        void poll() {
            chosen.poll();
        }

        @Override
        @Nullable
        SelectableChannel delegate() {
            return chosen.delegate();
        }
    };

    RuledSocketChannel(SelectorProvider provider, SocketRules rules,
            @Nullable ProtocolFamily family) {
        super(provider);
        this.rules = rules;
        this.family = family;
    }

    /** {@return one over TCP that was accepted} */
    static RuledSocketChannel ofAccepted(SelectorProvider provider, SocketRules rules,
            SocketChannel accepted) {
        RuledSocketChannel made = new RuledSocketChannel(provider, rules, null);
        made.chosen.begin(accepted);
        return made;
    }

    @Override
    public ChannelReadiness readiness() {
        return readiness;
    }

    /** {@return what it goes over, null while that is open} */
    @Nullable
    SocketChannel chosen() {
        return chosen.channel();
    }

    /** {@return the error} If what it goes over has closed itself, it is closed as well. */
    IOException ended(IOException error, SocketChannel made) throws IOException {
        return chosen.ended(error, made);
    }

    /** {@return where it is bound while it is open what it goes over, null if it is not} */
    @Nullable
    InetSocketAddress heldAddress() {
        Held bound = held;
        return bound == null ? null : bound.at();
    }

    // ---------------------------------------------------------------- deciding

    /** {@return a channel of the kind, with the options so far; {@link Way#AUTO} is over RDMA, as long as TCP is the other way} */
    private SocketChannel open(Way way) throws IOException {
        return chosen.withOptions(switch (way) {
            case RDMA -> overRdma();
            case TCP -> openOfTheJdk();
            case AUTO -> openBesideTcp();
        });
    }

    /** A program that listens over TCP must not get the bytes by which iWARP begins, nor may iWARP keep the port from TCP. */
    private SocketChannel openBesideTcp() {
        RdmaSocketChannel made = overRdma();
        made.options().avoidPortsOfTcp();
        return made;
    }

    private RdmaSocketChannel overRdma() {
        RdmaSocketChannel made = new RdmaSocketChannel(provider(), family);
        giveRule(made);
        return made;
    }

    private void giveRule(SocketChannel made) {
        Rule decided = rule;
        if (made instanceof RdmaSocketChannel overRdma && decided != null) {
            overRdma.options().insteadOfTcp(decided);
        }
    }

    private SocketChannel openOfTheJdk() throws IOException {
        SelectorProvider jdk = JdkProvider.provider();
        return family == null ? jdk.openSocketChannel() : jdk.openSocketChannel(family);
    }

    /** {@return a channel of the kind, bound as it was asked for} */
    private SocketChannel openBound(Way way) throws IOException {
        Held bound = held;
        if (bound == null) {
            return open(way);
        }
        SocketChannel holding = bound.channel();
        if (way == Way.TCP && holding.isOpen()) {
            chosen.options().giveTo(holding.supportedOptions(), holding::setOption);
            return holding;
        }
        // Of an attempt, what was made for RDMA has already taken its place.
        holding.close();
        SocketChannel made = open(way);
        try {
            bind(made, bound);
            return made;
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    /** Over RDMA somebody else may have the port that the system gave over TCP. */
    private static void bind(SocketChannel made, Held bound) throws IOException {
        try {
            made.bind(bound.at());
        } catch (BindException e) {
            if (bound.asked().getPort() != 0) {
                throw e;
            }
            made.bind(bound.asked());
        }
    }

    private SocketChannel adopt(SocketChannel made) throws IOException {
        chosen.adopt(made, readiness);
        held = null;
        return made;
    }

    @Override
    public RuledSocketChannel bind(@Nullable SocketAddress local) throws IOException {
        stateLock.lock();
        try {
            chosen.requireOpen();
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            SocketChannel made = chosen.channel();
            Held bound = held;
            SocketChannel has = made != null || bound == null ? made : bound.channel();
            if (has != null) {
                has.bind(local);
                return this;
            }
            InetSocketAddress wanted = ChannelAddresses.local(local, family);
            Way only = rules.only(Side.CONNECT);
            boolean isDecided = only == Way.RDMA || only == Way.TCP;
            SocketChannel opened = open(only == Way.RDMA ? Way.RDMA : Way.TCP);
            try {
                opened.bind(wanted);
            } catch (IOException | RuntimeException e) {
                opened.close();
                throw e;
            }
            if (isDecided) {
                adopt(opened);
            } else {
                held = new Held(opened, wanted, (InetSocketAddress) opened.getLocalAddress());
                if (!isOpen()) {
                    // It was closed meanwhile, by a thread that did not see it.
                    opened.close();
                    throw new AsynchronousCloseException();
                }
            }
            return this;
        } finally {
            stateLock.unlock();
        }
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        SocketChannel made = decide(remote, 0);
        if (made == null) {
            return outcome(Objects.requireNonNull(attempt), 0);
        }
        try {
            return made.connect(target(remote, made));
        } catch (IOException e) {
            throw chosen.ended(explained(e), made);
        }
    }

    /**
     * Connects a channel that blocks.
     *
     * @param timeoutMs how long that may take, from 1
     * @throws java.net.SocketTimeoutException if it takes longer; the channel is closed then
     */
    void connect(SocketAddress remote, int timeoutMs) throws IOException {
        SocketChannel made = decide(remote, timeoutMs);
        if (made == null) {
            boolean _ = outcome(Objects.requireNonNull(attempt), timeoutMs);
            return;
        }
        try {
            made.socket().connect(target(remote, made), timeoutMs);
        } catch (IOException e) {
            throw chosen.ended(explained(e), made);
        }
    }

    /** The JDK says by itself what is wrong with an address. */
    private SocketAddress target(SocketAddress remote, SocketChannel made) throws IOException {
        return made instanceof RdmaSocketChannel
                ? ChannelAddresses.remote(remote, family)
                : remote;
    }

    /**
     * Decides what it goes over.
     *
     * @param timeoutMs how long connecting may take, 0 for no limit
     * @return the channel to connect; null if an attempt connects it
     */
    @Nullable
    SocketChannel decide(SocketAddress remote, int timeoutMs) throws IOException {
        InetSocketAddress to = ChannelAddresses.remote(remote, family);
        stateLock.lock();
        try {
            chosen.requireOpen();
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            SocketChannel made = chosen.channel();
            Rule decided = rules.decide(Side.CONNECT, to);
            if (made != null) {
                if (!made.isConnected()) {
                    rule = decided;
                    giveRule(made);
                }
                return made;
            }
            rule = decided;
            if (decided.way() == Way.AUTO) {
                ConnectAttempt started = new ConnectAttempt(() -> openBound(Way.AUTO),
                        () -> openBound(Way.TCP), to, timeoutMs,
                        () -> readiness.onReady(validOps()));
                attempt = started;
                started.start();
                if (!isOpen()) {
                    // It was closed meanwhile, by a thread that did not see it.
                    started.cancel();
                    throw new AsynchronousCloseException();
                }
                return null;
            }
            try {
                return adopt(openBound(decided.way()));
            } catch (IOException e) {
                close();
                throw explained(e);
            }
        } finally {
            stateLock.unlock();
        }
    }

    private IOException explained(IOException error) {
        Rule decided = rule;
        return decided == null ? error : RuledErrors.explain(error, decided);
    }

    @Override
    public boolean finishConnect() throws IOException {
        ConnectAttempt pending = attempt;
        if (pending != null) {
            return outcome(pending, 0);
        }
        SocketChannel made = chosen.channel();
        if (made == null) {
            chosen.requireOpen();
            throw new NoConnectionPendingException();
        }
        try {
            return made.finishConnect();
        } catch (IOException e) {
            throw chosen.ended(explained(e), made);
        }
    }

    /** {@return whether it stands, after the wait for it if the channel blocks} A failure closes the channel. */
    private boolean outcome(ConnectAttempt pending, int timeoutMs) throws IOException {
        if (isBlocking()) {
            boolean isInTime = true;
            try {
                begin();
                isInTime = pending.await(timeoutMs);
            } finally {
                end(isOpen());
            }
            if (!isInTime) {
                close();
                throw new SocketTimeoutException("Connect timed out");
            }
        }
        return pending.isDone() && take(pending);
    }

    private boolean take(ConnectAttempt pending) throws IOException {
        stateLock.lock();
        try {
            chosen.requireOpen();
            if (attempt != pending) {
                return isConnected();
            }
            try {
                // Who looks meanwhile finds one of both.
                adopt(pending.result());
                attempt = null;
                return true;
            } catch (IOException e) {
                close();
                throw e;
            }
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    public boolean isConnected() {
        SocketChannel made = chosen.channel();
        return made != null && made.isConnected();
    }

    @Override
    public boolean isConnectionPending() {
        SocketChannel made = chosen.channel();
        return made == null ? attempt != null : made.isConnectionPending();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        chosen.requireOpen();
        SocketChannel made = chosen.channel();
        return made == null ? attempted() : made.getRemoteAddress();
    }

    /** {@return where an attempt connects to, null if there is none} */
    @Nullable
    InetSocketAddress attempted() {
        ConnectAttempt pending = attempt;
        return pending == null ? null : pending.to();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        chosen.requireOpen();
        SocketChannel made = chosen.channel();
        return made == null ? heldAddress() : made.getLocalAddress();
    }

    // ---------------------------------------------------------------- bytes

    @Override
    public int read(ByteBuffer dst) throws IOException {
        return chosen.read(dst);
    }

    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        return chosen.read(dsts, offset, length);
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        return chosen.write(src);
    }

    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        return chosen.write(srcs, offset, length);
    }

    @Override
    public RuledSocketChannel shutdownInput() throws IOException {
        chosen.require().shutdownInput();
        return this;
    }

    @Override
    public RuledSocketChannel shutdownOutput() throws IOException {
        chosen.require().shutdownOutput();
        return this;
    }

    // ---------------------------------------------------------------- options

    @Override
    public <T> RuledSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        chosen.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return chosen.getOption(name);
    }

    /** {@return those of the chosen channel; before, what can be kept for it} */
    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return chosen.supportedOptions();
    }

    @Override
    public Socket socket() {
        return socket;
    }

    // ---------------------------------------------------------------- closing

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        ConnectAttempt pending = attempt;
        if (pending != null) {
            pending.cancel();
        }
        Held bound = held;
        if (bound != null) {
            bound.channel().close();
        }
        chosen.close();
        readiness.onReady(validOps());
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) throws IOException {
        chosen.configureBlocking(isBlocking, readiness);
    }

    @Override
    public String toString() {
        return chosen.toString();
    }
}
