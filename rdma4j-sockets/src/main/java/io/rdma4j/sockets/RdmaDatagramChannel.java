// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.DatagramEndpoint;
import io.rdma4j.sockets.engine.SocketEngine;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.MembershipKey;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Datagrams over RDMA, between RoCE devices. The other end may be a C program of rdma-core's rsockets.
 *
 * <p>As {@link DatagramChannel} says: blocking and not, connected and not, gathering and scattering, closed and interrupted by other threads; one
 * thread can receive while another sends. The first datagram to a peer goes over UDP to the same port, by which both sides learn each other's queue pair;
 * the following ones go over RDMA. Like those of UDP they may be lost, which nobody is told: also when nobody is there.
 *
 * <p>A datagram has at most 2040 bytes (IPv6: 2024), and 1016 (1000) where the path MTU is 1024 bytes. A channel has room for 64 datagrams in each
 * direction, unless {@link java.net.StandardSocketOptions#SO_SNDBUF} and {@link java.net.StandardSocketOptions#SO_RCVBUF} say otherwise before it is bound, at 2048
 * bytes each. There are no groups. It can be registered with a selector of {@link RdmaSockets#openSelector}. C: a {@code rsocket} of type {@code
 * SOCK_DGRAM}. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaDatagramChannel extends ChannelReadiness.OfDatagrams {
    private final @Nullable ProtocolFamily family;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final ReentrantLock stateLock = new ReentrantLock();
    /** The one buffer of a call that has one, under the lock of its direction. */
    private final ByteBuffer[] oneToRead = new ByteBuffer[1];
    private final ByteBuffer[] oneToWrite = new ByteBuffer[1];
    private final ChannelOptions options = new ChannelOptions(ChannelOptions.OF_DATAGRAMS);
    private final DatagramReadiness readiness = new DatagramReadiness(this);
    private final BlockingCalls calls;
    private final DatagramSocket socket;
    /** Of the datagram that was received last, under the lock of reading. */
    private @Nullable InetSocketAddress source;
    private volatile @Nullable DatagramEndpoint endpoint;
    private volatile @Nullable InetSocketAddress localAddress;
    private volatile @Nullable InetSocketAddress remoteAddress;

    RdmaDatagramChannel(SelectorProvider provider, @Nullable ProtocolFamily family) {
        super(provider);
        this.family = family;
        calls = BlockingCalls.interruptible(this, this::begin, this::end);
        socket = new ChannelDatagramSocket(this, new SocketOperations(), true);
    }

    /** One that programs do not see, behind its socket. */
    private RdmaDatagramChannel(@Nullable ProtocolFamily family) {
        super(RdmaSelectorProvider.INSTANCE);
        this.family = family;
        calls = BlockingCalls.ofSocket(this, "Receive");
        socket = new ChannelDatagramSocket(this, new SocketOperations(), false);
    }

    /** {@return a socket without a channel, which an interruption ends only in a virtual thread} */
    static DatagramSocket openSocket(@Nullable ProtocolFamily family) {
        return new RdmaDatagramChannel(family).socket;
    }

    @Override
    ChannelReadiness readiness() {
        return readiness;
    }

    @Nullable
    DatagramEndpoint endpoint() {
        return endpoint;
    }

    private void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---------------------------------------------------------------- addresses

    /**
     * Binds to a local address. C: {@index rbind}.
     *
     * @param local an address of a RoCE device, or the wildcard address for all; null for that, with any port; port 0 for any
     * @throws java.net.BindException if the address or the port cannot be had
     * @throws SocketException if the device of the address has no datagrams, as iWARP has none
     */
    @Override
    public RdmaDatagramChannel bind(@Nullable SocketAddress local) throws IOException {
        readLock.lock();
        writeLock.lock();
        stateLock.lock();
        try {
            requireOpen();
            if (endpoint != null) {
                throw new AlreadyBoundException();
            }
            bound(local == null ? null : ChannelAddresses.require(local, family));
        } finally {
            stateLock.unlock();
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    /** {@return its options} */
    ChannelOptions options() {
        return options;
    }

    private DatagramEndpoint bound(@Nullable InetSocketAddress local) throws IOException {
        DatagramEndpoint made = DatagramEndpoint.bind(SocketEngine.ofProcess(),
                options.settings(), family, local, readiness);
        endpoint = made;
        localAddress = made.localAddress();
        readiness.onReady(made.hasInput(), made.hasOutput());
        return made;
    }

    /** {@return what it is bound with, to any address if it was not} */
    private DatagramEndpoint requireBound() throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            DatagramEndpoint known = endpoint;
            return known == null ? bound(null) : known;
        } finally {
            stateLock.unlock();
        }
    }

    /**
     * Exchanges datagrams with one peer alone from now on; it is not asked. C: {@index rconnect}.
     *
     * @throws SocketException if no RoCE device leads there
     */
    @Override
    public RdmaDatagramChannel connect(SocketAddress remote) throws IOException {
        connect(remote, false);
        return this;
    }

    /** @param replaces whether it may be connected to another peer until now */
    void connect(SocketAddress remote, boolean replaces) throws IOException {
        InetSocketAddress to = destination(remote);
        readLock.lock();
        writeLock.lock();
        stateLock.lock();
        try {
            requireOpen();
            if (remoteAddress != null && !replaces) {
                throw new AlreadyConnectedException();
            }
            requirePort(to, "connect");
            DatagramEndpoint used = requireBound();
            used.connect(to);
            remoteAddress = to;
            localAddress = used.localAddress(to);
        } finally {
            stateLock.unlock();
            writeLock.unlock();
            readLock.unlock();
        }
    }

    private InetSocketAddress destination(SocketAddress remote) {
        InetSocketAddress to = ChannelAddresses.require(remote, family);
        return to.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), to.getPort())
                : to;
    }

    private static void requirePort(InetSocketAddress to, String what) throws SocketException {
        if (to.getPort() == 0) {
            throw new SocketException("Can't " + what + " to port 0");
        }
    }

    /** Exchanges datagrams with any peer again. */
    @Override
    public RdmaDatagramChannel disconnect() throws IOException {
        readLock.lock();
        writeLock.lock();
        stateLock.lock();
        try {
            DatagramEndpoint used = endpoint;
            if (isOpen() && used != null && remoteAddress != null) {
                used.connect(null);
                remoteAddress = null;
                localAddress = used.localAddress();
            }
        } finally {
            stateLock.unlock();
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    @Override
    public boolean isConnected() {
        return isOpen() && remoteAddress != null;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        requireOpen();
        return remoteAddress;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        return localAddress;
    }

    // ---------------------------------------------------------------- receiving

    /**
     * Receives a datagram. What the buffer has no room for is lost. C: {@index rrecvfrom}.
     *
     * @return from whom; null if there is none and the channel does not block
     * @throws SocketException if the device is gone
     */
    @Override
    public @Nullable SocketAddress receive(ByteBuffer dst) throws IOException {
        if (dst.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
        return receive(dst, TimeLimit.NEVER);
    }

    /**
     * {@return from whom} The channel blocks.
     *
     * @param timeoutNs how long to wait; {@link Long#MAX_VALUE} for no limit
     * @throws SocketTimeoutException if nothing comes in time
     */
    InetSocketAddress receive(ByteBuffer dst, long timeoutNs) throws IOException {
        return Objects.requireNonNull(receive(dst, TimeLimit.in(timeoutNs)));
    }

    private @Nullable InetSocketAddress receive(ByteBuffer dst, TimeLimit limit)
            throws IOException {
        readLock.lock();
        try {
            DatagramEndpoint from = requireBound();
            oneToRead[0] = dst;
            return receive(from, oneToRead, 0, 1, limit);
        } finally {
            oneToRead[0] = null;
            readLock.unlock();
        }
    }

    /** Receives a datagram of the peer it is connected to. As {@link #receive}. C: {@index rrecv}. */
    @Override
    public int read(ByteBuffer dst) throws IOException {
        Objects.requireNonNull(dst);
        readLock.lock();
        try {
            oneToRead[0] = dst;
            return (int) readInto(oneToRead, 0, 1);
        } finally {
            oneToRead[0] = null;
            readLock.unlock();
        }
    }

    /** As {@link #read(ByteBuffer)}, into buffers, one after the other. C: {@index rreadv}. */
    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, dsts.length);
        readLock.lock();
        try {
            return RepeatedBuffers.run(dsts, offset, length, this::readInto);
        } finally {
            readLock.unlock();
        }
    }

    private long readInto(ByteBuffer[] to, int first, int buffers) throws IOException {
        DatagramEndpoint from = requireConnected();
        long room = Buffers.room(to, first, buffers);
        if (room == 0) {
            // As over UDP, where no datagram is taken for that.
            return 0;
        }
        return receive(from, to, first, buffers, TimeLimit.NEVER) == null
                ? 0
                : room - Buffers.remaining(to, first, buffers);
    }

    private DatagramEndpoint requireConnected() throws ClosedChannelException {
        requireOpen();
        DatagramEndpoint used = endpoint;
        if (remoteAddress == null || used == null) {
            throw new NotYetConnectedException();
        }
        return used;
    }

    /** {@return from whom; null if there is none and the channel does not block} */
    private @Nullable InetSocketAddress receive(DatagramEndpoint from, ByteBuffer[] to, int first,
            int buffers, TimeLimit limit) throws IOException {
        if (!isBlocking()) {
            return from.receive(to, first, buffers);
        }
        source = null;
        long _ = calls.run(() -> {
            source = from.receive(to, first, buffers);
            while (source == null && isOpen()) {
                calls.sleep(from::hasInput, from::awaitInput, limit);
                source = from.receive(to, first, buffers);
                if (source == null && limit.isOver() && isOpen()) {
                    throw new SocketTimeoutException("Receive timed out");
                }
            }
            return source == null ? 0 : 1;
        });
        return source;
    }

    // ---------------------------------------------------------------- sending

    /**
     * Sends a datagram. C: {@index rsendto}.
     *
     * @return how many bytes it has; 0 if there is no room and the channel does not block
     * @throws SocketException if it is too long, or the device is gone
     * @throws AlreadyConnectedException if the channel is connected to another peer
     */
    @Override
    public int send(ByteBuffer src, SocketAddress target) throws IOException {
        Objects.requireNonNull(src);
        InetSocketAddress to = destination(target);
        writeLock.lock();
        try {
            requireOpen();
            InetSocketAddress connected = remoteAddress;
            if (connected != null && !connected.equals(to)) {
                throw new AlreadyConnectedException();
            }
            requirePort(to, "send");
            oneToWrite[0] = src;
            return (int) send(requireBound(), oneToWrite, 0, 1, to);
        } finally {
            oneToWrite[0] = null;
            writeLock.unlock();
        }
    }

    /** Sends a datagram to the peer it is connected to. As {@link #send}. C: {@index rsend}. */
    @Override
    public int write(ByteBuffer src) throws IOException {
        Objects.requireNonNull(src);
        writeLock.lock();
        try {
            oneToWrite[0] = src;
            return (int) writeFrom(oneToWrite, 0, 1);
        } finally {
            oneToWrite[0] = null;
            writeLock.unlock();
        }
    }

    /** As {@link #write(ByteBuffer)}, one datagram of the bytes of all buffers. C: {@index rwritev}. */
    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, srcs.length);
        writeLock.lock();
        try {
            return RepeatedBuffers.run(srcs, offset, length, this::writeFrom);
        } finally {
            writeLock.unlock();
        }
    }

    private long writeFrom(ByteBuffer[] from, int first, int buffers) throws IOException {
        DatagramEndpoint to = requireConnected();
        return send(to, from, first, buffers, Objects.requireNonNull(remoteAddress));
    }

    private long send(DatagramEndpoint by, ByteBuffer[] from, int first, int buffers,
            InetSocketAddress to) throws IOException {
        long length = Buffers.remaining(from, first, buffers);
        if (!isBlocking()) {
            return by.send(from, first, buffers, to) ? length : 0;
        }
        long sent = calls.run(() -> {
            boolean isSent = by.send(from, first, buffers, to);
            while (!isSent && isOpen()) {
                calls.sleep(by::hasOutput, by::awaitOutput, TimeLimit.NEVER);
                isSent = by.send(from, first, buffers, to);
            }
            return isSent ? 1 : 0;
        });
        return sent > 0 ? length : 0;
    }

    // ---------------------------------------------------------------- options, and what there is not

    @Override
    public <T> RdmaDatagramChannel setOption(SocketOption<T> name, T value) throws IOException {
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

    /** {@return a socket that stands for this channel} It sends and receives only while the channel blocks, and takes a time for that. */
    @Override
    public DatagramSocket socket() {
        return socket;
    }

    @Nullable
    InetSocketAddress local() {
        return localAddress;
    }

    @Nullable
    InetSocketAddress remote() {
        return remoteAddress;
    }

    private final class SocketOperations implements DatagramOperations {
        @Override
        public SocketAddress receive(ByteBuffer into, long timeoutNs) throws IOException {
            requireOpen();
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return RdmaDatagramChannel.this.receive(into, timeoutNs);
        }

        @Override
        public void connect(SocketAddress remote) throws IOException {
            RdmaDatagramChannel.this.connect(remote, true);
        }

        @Override
        public @Nullable InetSocketAddress local() {
            return localAddress;
        }

        @Override
        public @Nullable InetSocketAddress remote() {
            return remoteAddress;
        }

        @Override
        public void joinGroup(SocketAddress group, @Nullable NetworkInterface by) {
            throw noGroups();
        }

        @Override
        public void leaveGroup(SocketAddress group, @Nullable NetworkInterface by) {
            throw noGroups();
        }
    }

    /** @throws UnsupportedOperationException always */
    @Override
    public MembershipKey join(InetAddress group, NetworkInterface by) {
        throw noGroups();
    }

    /** @throws UnsupportedOperationException always */
    @Override
    public MembershipKey join(InetAddress group, NetworkInterface by, InetAddress source) {
        throw noGroups();
    }

    private static UnsupportedOperationException noGroups() {
        return new UnsupportedOperationException("datagrams of rsockets have no groups: use"
                + " CmId.joinMulticast");
    }

    // ---------------------------------------------------------------- the end

    @Override
    protected void implCloseSelectableChannel() {
        DatagramEndpoint left;
        stateLock.lock();
        try {
            left = endpoint;
        } finally {
            stateLock.unlock();
        }
        if (left != null) {
            left.close();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) {
        // Each call asks how to wait; those under way end first, as on the JDK's channels.
        RdmaSocketChannel.awaitFree(readLock);
        RdmaSocketChannel.awaitFree(writeLock);
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + (isOpen() ? "" : "closed ") + "local="
                + localAddress + (remoteAddress == null ? "" : " remote=" + remoteAddress) + "]";
    }
}
