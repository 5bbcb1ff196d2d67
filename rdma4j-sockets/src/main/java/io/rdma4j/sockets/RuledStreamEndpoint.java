// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Side;
import io.rdma4j.sockets.rules.SocketRules;
import io.rdma4j.sockets.rules.Way;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a {@link Socket} is made of that decides by rules, when it connects, whether it goes over RDMA or over TCP; from then on it hands
 * everything to a socket of that kind. What was set before counts for it. Thread safe.
 *
 * <p>Over TCP that is one of the JDK's own kind, no channel: a thread that is interrupted must not close it.
 */
final class RuledStreamEndpoint extends StreamImplementation {
    private final SocketRules rules;
    private final boolean asksForProxies;
    private final ReentrantLock stateLock = new ReentrantLock();
    /** What it goes over; before that is decided, what it was bound with, or what is tried. */
    private volatile @Nullable Socket socket;
    /** Where it was to be bound, and where it is. */
    private @Nullable InetSocketAddress wanted;
    private @Nullable InetSocketAddress local;

    /** @param asksForProxies whether it connects through a proxy of SOCKS over TCP, if the JVM has one for the address */
    RuledStreamEndpoint(SocketRules rules, boolean asksForProxies) {
        this.rules = rules;
        this.asksForProxies = asksForProxies;
        if (rules.only(Side.CONNECT) == Way.TCP) {
            // So it has all options of the JDK's.
            try {
                use(overTcp());
            } catch (IOException e) {
                throw new UncheckedIOException("sockets of the JDK were in reach before", e);
            }
        }
    }

    private Socket overTcp() throws IOException {
        return asksForProxies ? TcpSockets.socket() : TcpSockets.direct();
    }

    private void use(Socket made) {
        socket = made;
        options.decide(new DecidedSocket.OfConnection(made));
    }

    private Socket requireSocket() throws SocketException {
        requireOpen();
        Socket made = socket;
        if (made == null) {
            throw new SocketException("Not connected");
        }
        return made;
    }

    // ---------------------------------------------------------------- deciding

    /** While rules differ, it holds the port over TCP. */
    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            if (wanted != null) {
                throw new SocketException("Already bound");
            }
            InetSocketAddress at = new InetSocketAddress(host, port);
            Way only = rules.only(Side.CONNECT);
            Socket present = socket;
            Socket made = only == Way.RDMA
                    ? RdmaSocket.open(null)
                    : present == null || present.isClosed() ? overTcp() : present;
            bind(made, at);
            use(made);
            wanted = at;
            local = (InetSocketAddress) made.getLocalSocketAddress();
            localport = made.getLocalPort();
        } finally {
            stateLock.unlock();
        }
    }

    private void bind(Socket made, InetSocketAddress at) throws IOException {
        try {
            options.giveTo(new DecidedSocket.OfConnection(made));
            made.bind(at);
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    /**
     * {@return a socket of a kind, bound as it was asked for} It takes the place of another one.
     *
     * @param rule null if none has decided
     */
    private Socket open(@Nullable Rule rule, Way way) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            Socket before = socket;
            if (before != null) {
                if (!before.isClosed() && before instanceof RdmaSocket == (way != Way.TCP)) {
                    giveRule(before, rule);
                    return before;
                }
                before.close();
            }
            Socket made = way == Way.TCP ? overTcp() : RdmaSocket.open(null);
            giveRule(made, rule);
            bindAgain(made);
            use(made);
            return made;
        } finally {
            stateLock.unlock();
        }
    }

    private static void giveRule(Socket made, @Nullable Rule rule) {
        if (made instanceof RdmaSocket overRdma && rule != null) {
            overRdma.options().insteadOfTcp(rule);
            if (rule.way() == Way.AUTO) {
                overRdma.options().avoidPortsOfTcp();
            }
        }
    }

    /** Over RDMA somebody else may have the port that the system gave over TCP. */
    private void bindAgain(Socket made) throws IOException {
        InetSocketAddress asked = wanted;
        InetSocketAddress at = local;
        try {
            options.giveTo(new DecidedSocket.OfConnection(made));
            if (asked == null || at == null) {
                return;
            }
            try {
                made.bind(at);
            } catch (BindException e) {
                if (asked.getPort() != 0) {
                    throw e;
                }
                made.bind(asked);
            }
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    // ---------------------------------------------------------------- connecting

    @Override
    protected void connect(SocketAddress remote, int timeoutMs) throws IOException {
        if (remote instanceof InetSocketAddress internet && internet.isUnresolved()) {
            connectUnresolved(internet, timeoutMs);
            return;
        }
        InetSocketAddress to = ChannelAddresses.remote(remote, null);
        address = to.getAddress();
        port = to.getPort();
        Rule rule = rules.decide(Side.CONNECT, to);
        try {
            connect(rule, to, TimeLimit.ofSocket(timeoutMs));
        } catch (IOException e) {
            close();
            throw RuledErrors.explain(e, rule);
        }
    }

    /** A name that this host does not know a proxy of SOCKS may know. No rule has names. */
    private void connectUnresolved(InetSocketAddress to, int timeoutMs) throws IOException {
        if (rules.only(Side.CONNECT) == Way.RDMA) {
            close();
            throw new UnknownHostException(to.getHostString());
        }
        try {
            connect(open(null, Way.TCP), to, timeoutMs);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void connect(Rule rule, InetSocketAddress to, TimeLimit limit) throws IOException {
        if (rule.way() != Way.AUTO) {
            connect(open(rule, rule.way()), to, milliseconds(limit));
            return;
        }
        Socket attempt = open(rule, Way.AUTO);
        try {
            connect(attempt, to, ConnectAttempt.patienceMs(milliseconds(limit)));
        } catch (IOException overRdma) {
            Thread caller = Thread.currentThread();
            if (caller.isVirtual() && caller.isInterrupted()) {
                throw overRdma;
            }
            long openedInNs = attempt instanceof RdmaSocket opened ? opened.openedInNs() : 0;
            connectInstead(rule, to, limit.longerBy(openedInNs), overRdma);
        }
    }

    private void connectInstead(Rule rule, InetSocketAddress to, TimeLimit limit,
            IOException overRdma) throws IOException {
        try {
            connect(open(rule, Way.TCP), to, milliseconds(limit));
            ConnectAttempt.logInstead(to, overRdma);
        } catch (IOException e) {
            e.addSuppressed(overRdma);
            throw e;
        }
    }

    /** {@return what is left for a socket, to which 0 is no limit} */
    private static int milliseconds(TimeLimit limit) throws SocketTimeoutException {
        if (limit.isEndless()) {
            return 0;
        }
        if (limit.isOver()) {
            throw new SocketTimeoutException("Connect timed out");
        }
        return (int) TimeUnit.NANOSECONDS.toMillis(limit.leftNs()) + 1;
    }

    private void connect(Socket made, InetSocketAddress to, int timeoutMs) throws IOException {
        made.connect(to, timeoutMs);
        connected(made);
    }

    private void connected(Socket made) {
        address = made.getInetAddress();
        port = made.getPort();
        localport = made.getLocalPort();
    }

    /** Takes what was accepted. */
    void accepted(Socket made) throws IOException {
        stateLock.lock();
        try {
            if (isClosed()) {
                made.close();
            }
            requireOpen();
            options.giveLimitTo(new DecidedSocket.OfConnection(made));
            Socket before = socket;
            if (before != null) {
                before.close();
            }
            use(made);
            connected(made);
        } finally {
            stateLock.unlock();
        }
    }

    // ---------------------------------------------------------------- bytes

    @Override
    protected InputStream getInputStream() throws IOException {
        return new Input(requireSocket());
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        return new Output(requireSocket());
    }

    private static final class Input extends SocketInput {
        private final Socket from;
        private final InputStream in;

        Input(Socket from) throws IOException {
            this.from = from;
            in = from.getInputStream();
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                return in.read(into, offset, length);
            } catch (IOException e) {
                throw SocketExceptions.ofInner(e, from.isClosed());
            }
        }

        @Override
        public int available() throws IOException {
            return in.available();
        }
    }

    private static final class Output extends SocketOutput {
        private final Socket to;
        private final OutputStream out;

        Output(Socket to) throws IOException {
            this.to = to;
            out = to.getOutputStream();
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            try {
                out.write(from, offset, length);
            } catch (IOException e) {
                throw SocketExceptions.ofInner(e, to.isClosed());
            }
        }
    }

    @Override
    protected int available() throws IOException {
        return requireSocket().getInputStream().available();
    }

    @Override
    protected boolean supportsUrgentData() {
        Socket made = socket;
        return made != null && !(made instanceof RdmaSocket);
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        requireSocket().sendUrgentData(data);
    }

    // ---------------------------------------------------------------- the end

    @Override
    protected void shutdownInput() throws IOException {
        requireSocket().shutdownInput();
    }

    @Override
    protected void shutdownOutput() throws IOException {
        requireSocket().shutdownOutput();
    }

    @Override
    protected void close() throws IOException {
        Socket left;
        stateLock.lock();
        try {
            markClosed();
            left = socket;
        } finally {
            stateLock.unlock();
        }
        if (left != null) {
            left.close();
        }
    }
}
