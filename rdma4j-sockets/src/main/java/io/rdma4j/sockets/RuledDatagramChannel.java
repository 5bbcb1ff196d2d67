// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.SocketRules;
import io.rdma4j.sockets.rules.Way;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.MembershipKey;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A channel for datagrams that decides by rules whether they go over RDMA or over UDP: when it is bound, by that address; without that when it connects or first sends,
 * by the peer's. From then on it hands everything to a channel of that kind. What was set before counts for it. Thread safe.
 */
final class RuledDatagramChannel extends ChannelReadiness.OfDatagrams {
    private final SocketRules rules;
    private final @Nullable ProtocolFamily family;
    /** Before the lock of the blocking mode. */
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ChosenChannel<DatagramChannel> chosen = new ChosenChannel<>(this,
            ChannelOptions.OF_DATAGRAMS);
    private final DatagramSocket socket = new ChannelDatagramSocket(this, new SocketOperations(),
            true);

    private final ChannelReadiness readiness = new ChannelReadiness() {
        @Override
        int readyOps(int operations) {
            // To send decides.
            return chosen.channel() == null
                    ? operations & SelectionKey.OP_WRITE
                    : chosen.readyOps(operations);
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

    RuledDatagramChannel(SelectorProvider provider, SocketRules rules,
            @Nullable ProtocolFamily family) {
        super(provider);
        this.rules = rules;
        this.family = family;
    }

    @Override
    ChannelReadiness readiness() {
        return readiness;
    }

    /** {@return what it goes over, null while that is open} */
    @Nullable
    DatagramChannel chosen() {
        return chosen.channel();
    }

    // ---------------------------------------------------------------- deciding

    private static InetSocketAddress anywhere() {
        return new InetSocketAddress(0);
    }

    /** Decides, if that is open. {@return what it goes over} */
    private DatagramChannel decide(InetSocketAddress by) throws IOException {
        stateLock.lock();
        try {
            chosen.requireOpen();
            DatagramChannel made = chosen.channel();
            return made == null ? chosen.adopt(made(rules.decideOfDatagrams(by)), readiness) : made;
        } finally {
            stateLock.unlock();
        }
    }

    /** Decides by a peer, if that is open, as {@link #decide}. */
    private DatagramChannel decideFor(SocketAddress remote) throws IOException {
        DatagramChannel made = chosen.channel();
        return made == null ? decide(ChannelAddresses.require(remote, family)) : made;
    }

    private DatagramChannel made(@Nullable Rule rule) throws IOException {
        return chosen.withOptions(rule != null && rule.way() == Way.RDMA
                ? overRdma(rule)
                : ofTheJdk(family));
    }

    private RdmaDatagramChannel overRdma(Rule rule) {
        RdmaDatagramChannel made = new RdmaDatagramChannel(provider(), family);
        made.options().decidedBy(rule);
        return made;
    }

    static DatagramChannel ofTheJdk(@Nullable ProtocolFamily family) throws IOException {
        SelectorProvider jdk = JdkProvider.provider();
        return family == null ? jdk.openDatagramChannel() : jdk.openDatagramChannel(family);
    }

    @Override
    public RuledDatagramChannel bind(@Nullable SocketAddress local) throws IOException {
        DatagramChannel made = chosen.channel();
        if (made == null) {
            made = decide(ChannelAddresses.local(local, family));
        }
        made.bind(local);
        return this;
    }

    @Override
    public RuledDatagramChannel connect(SocketAddress remote) throws IOException {
        decideFor(remote).connect(remote);
        return this;
    }

    @Override
    public RuledDatagramChannel disconnect() throws IOException {
        DatagramChannel made = chosen.channel();
        if (made != null) {
            made.disconnect();
        }
        return this;
    }

    @Override
    public boolean isConnected() {
        DatagramChannel made = chosen.channel();
        return made != null && made.isConnected();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        chosen.requireOpen();
        DatagramChannel made = chosen.channel();
        return made == null ? null : made.getRemoteAddress();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        chosen.requireOpen();
        DatagramChannel made = chosen.channel();
        return made == null ? null : made.getLocalAddress();
    }

    // ---------------------------------------------------------------- datagrams

    @Override
    public @Nullable SocketAddress receive(ByteBuffer dst) throws IOException {
        if (dst.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
        DatagramChannel made = decide(anywhere());
        try {
            return made.receive(dst);
        } catch (IOException e) {
            throw chosen.ended(e, made);
        }
    }

    @Override
    public int send(ByteBuffer src, SocketAddress target) throws IOException {
        Objects.requireNonNull(src);
        DatagramChannel made = decideFor(target);
        try {
            return made.send(src, target);
        } catch (IOException e) {
            throw chosen.ended(e, made);
        }
    }

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

    // ---------------------------------------------------------------- groups, and the socket

    /** {@return what it goes over} Only UDP has groups, so to join one decides for it. */
    private DatagramChannel decideForGroups() throws IOException {
        stateLock.lock();
        try {
            chosen.requireOpen();
            DatagramChannel made = chosen.channel();
            return made == null ? chosen.adopt(made(null), readiness) : made;
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    public MembershipKey join(InetAddress group, NetworkInterface by) throws IOException {
        return decideForGroups().join(group, by);
    }

    @Override
    public MembershipKey join(InetAddress group, NetworkInterface by, InetAddress source)
            throws IOException {
        return decideForGroups().join(group, by, source);
    }

    @Override
    public DatagramSocket socket() {
        return socket;
    }

    private final class SocketOperations implements DatagramOperations {
        @Override
        public SocketAddress receive(ByteBuffer into, long timeoutNs) throws IOException {
            chosen.requireOpen();
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            DatagramChannel made = decide(anywhere());
            try {
                return made instanceof RdmaDatagramChannel rdma
                        ? rdma.receive(into, timeoutNs)
                        : receive(made.socket(), into, timeoutNs);
            } catch (IOException e) {
                throw chosen.ended(e, made);
            }
        }

        private SocketAddress receive(DatagramSocket by, ByteBuffer into, long timeoutNs)
                throws IOException {
            by.setSoTimeout(RuledOperations.milliseconds(timeoutNs));
            DatagramPacket packet = new DatagramPacket(into.array(),
                    into.arrayOffset() + into.position(), into.remaining());
            by.receive(packet);
            into.position(into.position() + packet.getLength());
            return packet.getSocketAddress();
        }

        @Override
        public void connect(SocketAddress remote) throws IOException {
            DatagramChannel made = decideFor(remote);
            if (made instanceof RdmaDatagramChannel rdma) {
                rdma.connect(remote, true);
            } else {
                made.socket().connect(remote);
            }
        }

        @Override
        public @Nullable InetSocketAddress local() {
            return switch (chosen.channel()) {
                case null -> null;
                case RdmaDatagramChannel rdma -> rdma.local();
                case DatagramChannel udp ->
                    (InetSocketAddress) udp.socket().getLocalSocketAddress();
            };
        }

        @Override
        public @Nullable InetSocketAddress remote() {
            return switch (chosen.channel()) {
                case null -> null;
                case RdmaDatagramChannel rdma -> rdma.remote();
                case DatagramChannel udp ->
                    (InetSocketAddress) udp.socket().getRemoteSocketAddress();
            };
        }

        @Override
        public void joinGroup(SocketAddress group, @Nullable NetworkInterface by)
                throws IOException {
            decideForGroups().socket().joinGroup(group, by);
        }

        @Override
        public void leaveGroup(SocketAddress group, @Nullable NetworkInterface by)
                throws IOException {
            decideForGroups().socket().leaveGroup(group, by);
        }
    }

    // ---------------------------------------------------------------- options

    @Override
    public <T> RuledDatagramChannel setOption(SocketOption<T> name, T value) throws IOException {
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

    // ---------------------------------------------------------------- the end

    @Override
    protected void implCloseSelectableChannel() throws IOException {
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
