// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.BoundId;
import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.sockets.engine.SocketConnector;
import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.sockets.engine.SocketSettings;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A stream of bytes over RDMA. The other end may be a C program of rdma-core's rsockets.
 *
 * <p>As {@link SocketChannel} says: blocking and not, gathering and scattering, closed halfway, closed and interrupted by other
 * threads; one thread can read while another writes. A channel has a send buffer and a receive buffer of 128 KiB each, which
 * become 1 MiB where a stream stands still for lack of room, unless {@link StandardSocketOptions#SO_SNDBUF} and {@link
 * StandardSocketOptions#SO_RCVBUF} say another size before it connects, which stays. The connection goes on by itself while
 * the application does nothing.
 *
 * <p>{@link #close} returns when the peer's device has everything that was written, or when nothing more arrives there: after ten seconds in which none of
 * it did, or three in which the peer took nothing more. From then on that is awaited in the background; a minute after {@code close} it ends. With {@link StandardSocketOptions#SO_LINGER} it waits as long as that says, and 0 drops what is not sent. If the
 * channel does not block, or a thread is in it, {@code close} does not wait.
 *
 * <p>A connection that ends without the peer's {@code close} is an exception, and never the end of the stream. It can be
 * registered with a selector of {@link RdmaSockets#openSelector}. C: a {@code rsocket} of type {@code SOCK_STREAM}. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaSocketChannel extends ChannelReadiness.OfStreams {
    private enum State {
        UNCONNECTED, PENDING, CONNECTED, CLOSED
    }

    private final @Nullable ProtocolFamily family;
    /** The locks of both are held to connect, before that of the state. */
    private final StreamReader reader = new StreamReader(this);
    private final StreamWriter writer = new StreamWriter(this);

    private final BlockingCalls calls = BlockingCalls.interruptible(this, this::begin, this::end);
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ChannelOptions options = new ChannelOptions(ChannelOptions.OF_STREAMS);
    private volatile State state = State.UNCONNECTED;
    private @Nullable BoundId bound;
    private @Nullable Socket socket;
    private volatile @Nullable SocketConnector connector;
    private volatile @Nullable SocketConnection connection;
    private volatile @Nullable InetSocketAddress localAddress;
    private volatile @Nullable InetSocketAddress remoteAddress;
    private volatile boolean isInputClosed;
    private volatile boolean isOutputClosed;
    private final StreamReadiness readiness = new StreamReadiness(this);

    RdmaSocketChannel(SelectorProvider provider, @Nullable ProtocolFamily family) {
        super(provider);
        this.family = family;
    }

    /** One that was accepted. */
    RdmaSocketChannel(SelectorProvider provider, @Nullable ProtocolFamily family,
            SocketConnection accepted, ChannelOptions ofListener) {
        this(provider, family);
        options.inherit(ofListener);
        established(accepted);
        accepted.listener(readiness);
    }

    @Override
    ChannelReadiness readiness() {
        return readiness;
    }

    private void established(SocketConnection made) {
        connection = made;
        localAddress = made.localAddress();
        remoteAddress = made.peerAddress();
        state = State.CONNECTED;
    }

    private void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    SocketConnection requireConnected() throws ClosedChannelException {
        requireOpen();
        SocketConnection made = connection;
        if (state != State.CONNECTED || made == null) {
            throw new NotYetConnectedException();
        }
        return made;
    }

    // ---------------------------------------------------------------- reading

    /**
     * Reads bytes. C: {@index rrecv}.
     *
     * @return how many; 0 only if the buffer has no room, or if the channel does not block; -1 at the end of the stream
     * @throws java.net.SocketException if the connection was reset or lost
     */
    @Override
    public int read(ByteBuffer dst) throws IOException {
        Objects.requireNonNull(dst);
        return read(dst, Long.MAX_VALUE);
    }

    /**
     * As {@link #read(ByteBuffer)}.
     *
     * @param timeoutNs how long to wait; {@link Long#MAX_VALUE} for no limit
     * @throws SocketTimeoutException if nothing comes in time
     */
    int read(ByteBuffer dst, long timeoutNs) throws IOException {
        return reader.read(dst, timeoutNs);
    }

    /** Reads bytes into buffers, one after the other. C: {@index rreadv}. As {@link #read(ByteBuffer)}. */
    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, dsts.length);
        return reader.read(dsts, offset, length);
    }

    // ---------------------------------------------------------------- writing

    /**
     * Writes bytes. C: {@index rsend}.
     *
     * @return how many; all if the channel blocks and nobody closes it meanwhile
     * @throws IOException if the connection was reset or lost, or the peer has closed it
     */
    @Override
    public int write(ByteBuffer src) throws IOException {
        Objects.requireNonNull(src);
        return writer.write(src);
    }

    /** Writes the bytes of buffers, one after the other. C: {@index rwritev}. As {@link #write(ByteBuffer)}. */
    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, srcs.length);
        return writer.write(srcs, offset, length);
    }

    // ---------------------------------------------------------------- memory of the other side

    /**
     * Lets the peer write memory at any time, without a message: it is told before the next bytes that are written here. C: {@index
     * riomap}.
     *
     * @param memory native or mapped; it belongs to the caller, who must {@link #unmap} it before it goes
     * @param offset by which the peer names its first byte
     * @throws IOException if the peer keeps no more mappings ({@link RdmaSocketOptions#RDMA_IOMAPSIZE}), if the offset is in use, or the
     *         memory cannot be registered
     */
    public void map(MemorySegment memory, long offset) throws IOException {
        requireConnected().map(offset, memory);
    }

    /**
     * Ends what {@link #map} began; the peer is not told, and its writes fail then. Closing the channel does it as well. C: {@index riounmap}.
     *
     * @throws IOException if nothing is mapped at the offset
     */
    public void unmap(long offset) throws IOException {
        requireConnected().unmap(offset);
    }

    /**
     * Writes bytes to memory that the peer has mapped. The peer's program is not notified; it sees them in its memory, in order. C:
     * {@index riowrite}.
     *
     * @param offset the peer's name of the place
     * @return how many; all if the channel blocks and nobody closes it meanwhile
     * @throws IOException if the peer has mapped nothing there, and as {@link #write(ByteBuffer)}
     */
    public int write(ByteBuffer src, long offset) throws IOException {
        Objects.requireNonNull(src);
        return writer.write(src, offset);
    }

    // ---------------------------------------------------------------- connecting

    /**
     * Binds to a local address. C: {@index rbind}.
     *
     * @param local an address of a device, or null for any; port 0 for any
     * @throws java.net.BindException if the address or the port cannot be had
     */
    @Override
    public RdmaSocketChannel bind(@Nullable SocketAddress local) throws IOException {
        reader.lock().lock();
        writer.lock().lock();
        stateLock.lock();
        try {
            requireOpen();
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            if (localAddress != null) {
                throw new AlreadyBoundException();
            }
            BoundId made = BoundId.bind(SocketEngine.ofProcess(), options.settings(),
                    ChannelAddresses.local(local, family));
            bound = made;
            localAddress = made.localAddress();
        } finally {
            stateLock.unlock();
            writer.lock().unlock();
            reader.lock().unlock();
        }
        return this;
    }

    /**
     * Connects. C: {@index rconnect}.
     *
     * @return whether the connection stands; false only if the channel does not block
     * @throws java.net.ConnectException if the peer refuses, does not answer, or is no rsocket; the channel is closed then
     * @throws java.net.NoRouteToHostException if no device leads there; the channel is closed then
     */
    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(remote, Long.MAX_VALUE);
    }

    /**
     * As {@link #connect(SocketAddress)}.
     *
     * @param timeoutNs how long to wait; {@link Long#MAX_VALUE} for no limit
     * @throws SocketTimeoutException if it takes longer; the channel is closed then
     */
    boolean connect(SocketAddress remote, long timeoutNs) throws IOException {
        InetSocketAddress to = ChannelAddresses.remote(remote, family);
        reader.lock().lock();
        writer.lock().lock();
        try {
            startConnecting(to);
            return outcome(timeoutNs);
        } finally {
            writer.lock().unlock();
            reader.lock().unlock();
        }
    }

    /** {@return its options} */
    ChannelOptions options() {
        return options;
    }

    private void startConnecting(InetSocketAddress to) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            switch (state) {
                case CONNECTED -> throw new AlreadyConnectedException();
                case PENDING -> throw new ConnectionPendingException();
                case CLOSED -> throw new ClosedChannelException();
                case UNCONNECTED -> {
                    SocketConnector started = new SocketConnector(SocketEngine.ofProcess(),
                            options.settings(), bound, to, readiness);
                    bound = null;
                    connector = started;
                    remoteAddress = to;
                    state = State.PENDING;
                    started.start();
                }
            }
        } finally {
            stateLock.unlock();
        }
    }

    /** {@return whether it stands, after the wait for it if the channel blocks} A failure closes the channel. */
    private boolean outcome(long timeoutNs) throws IOException {
        boolean isBlocking = isBlocking();
        boolean isConnected = false;
        boolean isFailed = true;
        try {
            try {
                if (isBlocking) {
                    begin();
                }
                requireOpen();
                isConnected = isBlocking ? await(timeoutNs) : hasConnected();
                isFailed = false;
            } finally {
                if (isBlocking) {
                    end(isConnected || (isFailed && isOpen()));
                }
            }
        } catch (IOException e) {
            close();
            throw e;
        }
        return isConnected;
    }

    /** {@return whether it stands, after the wait for it} */
    private boolean await(long timeoutNs) throws IOException {
        SocketConnector pending = Objects.requireNonNull(connector);
        awaitBegun(pending);
        TimeLimit limit = TimeLimit.in(timeoutNs);
        while (!pending.isDone() && isOpen()) {
            if (limit.isOver()) {
                throw new SocketTimeoutException("Connect timed out");
            }
            pending.await(limit.leftNs());
        }
        return isOpen() && hasConnected();
    }

    /** Time limits begin when the device is open: to open it is this side's work, and takes long in a new JVM. */
    private void awaitBegun(SocketConnector pending) {
        while (!pending.hasBegun() && isOpen()) {
            pending.awaitBegun(Long.MAX_VALUE);
        }
    }

    /** Waits until the device is open that the channel connects with, or it is closed. For a channel that does not block. */
    void awaitBegun() {
        SocketConnector pending = connector;
        if (pending != null) {
            awaitBegun(pending);
        }
    }

    /** {@return whether it stands} */
    private boolean hasConnected() throws IOException {
        SocketConnection made = Objects.requireNonNull(connector).connection();
        if (made == null) {
            return false;
        }
        stateLock.lock();
        try {
            if (!isOpen()) {
                return false;
            }
            established(made);
            connector = null;
            made.keepalive(keepaliveSeconds());
            // What has come before did not make it ready.
            readiness.onReady(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            return true;
        } finally {
            stateLock.unlock();
        }
    }

    /**
     * {@return whether the connection stands} C: {@index rgetsockopt} of {@code SO_ERROR}.
     *
     * @throws java.net.ConnectException and others, as {@link #connect}
     */
    @Override
    public boolean finishConnect() throws IOException {
        reader.lock().lock();
        writer.lock().lock();
        try {
            requireOpen();
            switch (state) {
                case CONNECTED -> {
                    return true;
                }
                case UNCONNECTED -> throw new NoConnectionPendingException();
                case CLOSED -> throw new ClosedChannelException();
                case PENDING -> {}
            }
            return outcome(Long.MAX_VALUE);
        } finally {
            writer.lock().unlock();
            reader.lock().unlock();
        }
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING;
    }

    /** {@return where it is connected to, or is being connected to; null if neither} C: {@index rgetpeername}. */
    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        requireOpen();
        return remoteAddress;
    }

    /** {@return where it is bound, null if it is not} C: {@index rgetsockname}. */
    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        return localAddress;
    }

    // ---------------------------------------------------------------- the end

    /** Ends the input: reads return -1, and what comes is dropped. C: {@index rshutdown} with {@code SHUT_RD}. */
    @Override
    public RdmaSocketChannel shutdownInput() throws IOException {
        stateLock.lock();
        try {
            SocketConnection made = requireConnected();
            if (!isInputClosed) {
                isInputClosed = true;
                made.shutdownInput();
            }
        } finally {
            stateLock.unlock();
        }
        return this;
    }

    /** Ends the output: the peer reads what was written, then -1. C: {@index rshutdown} with {@code SHUT_WR}. */
    @Override
    public RdmaSocketChannel shutdownOutput() throws IOException {
        stateLock.lock();
        try {
            SocketConnection made = requireConnected();
            if (!isOutputClosed) {
                isOutputClosed = true;
                made.shutdownOutput();
            }
        } finally {
            stateLock.unlock();
        }
        return this;
    }

    @Override
    protected void implCloseSelectableChannel() {
        SocketConnection made;
        int linger;
        stateLock.lock();
        try {
            made = connection;
            state = State.CLOSED;
            linger = options.get(StandardSocketOptions.SO_LINGER);
            SocketConnector pending = connector;
            if (pending != null) {
                pending.cancel();
            }
            BoundId unused = bound;
            if (unused != null) {
                unused.close();
            }
            if (made != null) {
                made.close(linger);
            }
        } finally {
            stateLock.unlock();
        }
        boolean isInUse = reader.lock().isLocked() || writer.lock().isLocked();
        if (made != null && linger != 0 && isBlocking() && !isInUse) {
            made.awaitOver(linger);
        }
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) {
        // Each call asks how to wait; those under way end first, as on the JDK's channels.
        awaitFree(reader.lock());
        awaitFree(writer.lock());
    }

    /** Waits until a thread that has the lock has released it. */
    static void awaitFree(ReentrantLock lock) {
        lock.lock();
        try {
            // Nothing is to be done with it.
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- options

    private int keepaliveSeconds() {
        SocketSettings settings = options.settings();
        return settings.keepalive() ? settings.keepaliveSeconds() : 0;
    }

    /** Sets an option. C: {@index rsetsockopt}. */
    @Override
    public <T> RdmaSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.change(name, value, this);
        stateLock.lock();
        try {
            SocketConnection made = connection;
            if (made != null) {
                made.keepalive(keepaliveSeconds());
            }
        } finally {
            stateLock.unlock();
        }
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
     * {@return a socket that stands for this channel} It reads, writes and connects only while the channel blocks, and takes times for
     * that. It has no urgent data.
     */
    @Override
    public Socket socket() {
        stateLock.lock();
        try {
            Socket known = socket;
            if (known == null) {
                known = ChannelSocket.of(this, new StreamOperations(this));
                socket = known;
            }
            return known;
        } finally {
            stateLock.unlock();
        }
    }

    // ---------------------------------------------------------------- for its reader and its writer

    /** {@return what the transfer returns} It waits with {@link #sleep} if the channel blocks. */
    long guarded(BlockingCalls.Call transfer) throws IOException {
        try {
            return isBlocking() ? calls.run(transfer) : transfer.run();
        } catch (InternalError cutShort) {
            if (!String.valueOf(cutShort.getMessage()).contains("fault occurred")) {
                throw cutShort;
            }
            // As over TCP.
            throw new IOException("Bad address: the file that a buffer maps was cut short",
                    cutShort);
        }
    }

    /** Waits once, inside of a transfer. */
    void sleep(SocketWait.Wait wait, TimeLimit limit) throws IOException {
        // Who reads or writes looks by itself.
        calls.sleep(() -> false, wait, limit);
    }

    // ---------------------------------------------------------------- for its socket, and for selectors

    @Nullable
    SocketConnector connector() {
        return connector;
    }

    @Nullable
    SocketConnection connection() {
        return connection;
    }

    @Nullable
    InetSocketAddress local() {
        return localAddress;
    }

    @Nullable
    InetSocketAddress remote() {
        return remoteAddress;
    }

    boolean isInputShut() {
        return isInputClosed;
    }

    boolean isOutputShut() {
        return isOutputClosed;
    }

    @Override
    public String toString() {
        String text = switch (state) {
            case UNCONNECTED -> "unconnected";
            case CLOSED -> "closed";
            case PENDING -> "connection-pending";
            case CONNECTED -> "connected" + (isInputClosed ? " ishut" : "")
                    + (isOutputClosed ? " oshut" : "");
        };
        return getClass().getSimpleName() + "[" + text
                + (localAddress == null ? "" : " local=" + localAddress)
                + (remoteAddress == null ? "" : " remote=" + remoteAddress) + "]";
    }
}
