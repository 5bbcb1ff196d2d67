// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.BoundId;
import io.rdma4j.sockets.engine.ReadinessListener;
import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.sockets.engine.SocketConnector;
import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.sockets.engine.SocketSettings;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a {@link java.net.Socket} over RDMA is made of. What that class checks is not checked here. Thread safe.
 *
 * <p>No channel is behind it: a thread that is interrupted does not close it, unless the thread is virtual.
 */
final class StreamEndpoint extends StreamImplementation {
    private final @Nullable ProtocolFamily family;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ByteBuffer[] toRead = new ByteBuffer[1];
    private final ByteBuffer[] toWrite = new ByteBuffer[1];
    private @Nullable BoundId bound;
    private @Nullable SocketConnector connector;
    private volatile long openedInNs;
    private volatile @Nullable SocketConnection connection;
    private volatile boolean isInputShut;
    private final ForgottenSocket forgotten;

    /** @param family whose addresses it takes, null for both */
    StreamEndpoint(@Nullable ProtocolFamily family) {
        this.family = family;
        forgotten = new ForgottenSocket(this);
    }

    /** {@return its options} */
    ChannelOptions options() {
        return options.named();
    }

    private SocketConnection requireConnected() throws SocketException {
        requireOpen();
        SocketConnection made = connection;
        if (made == null) {
            throw new SocketException("Not connected");
        }
        return made;
    }

    /** {@return how long the last attempt to connect took before the device was open; time limits begin then} */
    long openedInNs() {
        return openedInNs;
    }

    // ---------------------------------------------------------------- the beginning

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        stateLock.lock();
        try {
            requireOpen();
            BoundId made = BoundId.bind(SocketEngine.ofProcess(), options.named().settings(),
                    ChannelAddresses.local(host, port, family));
            bound = made;
            forgotten.closesBy(made::close);
            InetSocketAddress local = Objects.requireNonNull(made.localAddress());
            options.bound(local.getAddress());
            localport = local.getPort();
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    protected void connect(SocketAddress remote, int timeoutMs) throws IOException {
        if (remote instanceof InetSocketAddress internet && internet.isUnresolved()) {
            throw new UnknownHostException(internet.getHostString());
        }
        InetSocketAddress to = ChannelAddresses.remote(remote, family);
        address = to.getAddress();
        port = to.getPort();
        SocketConnector started = start(to);
        try {
            // To open a device is this side's work, and takes long in a new JVM: that is no time of the peer's.
            long startNs = System.nanoTime();
            SocketWait.until(started::hasBegun, started::awaitBegun, TimeLimit.NEVER, "Connect");
            openedInNs = System.nanoTime() - startNs;
            SocketWait.until(started::isDone, started::await, TimeLimit.ofSocket(timeoutMs),
                    "Connect");
            established(started);
        } catch (SocketTimeoutException e) {
            close();
            throw e;
        } catch (InterruptedIOException e) {
            close();
            throw new SocketException("Closed by interrupt");
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private SocketConnector start(InetSocketAddress to) throws SocketException {
        stateLock.lock();
        try {
            requireOpen();
            SocketConnector started = new SocketConnector(SocketEngine.ofProcess(),
                    options.named().settings(), bound, to, ReadinessListener.NONE);
            bound = null;
            connector = started;
            started.start();
            return started;
        } finally {
            stateLock.unlock();
        }
    }

    private void established(SocketConnector done) throws IOException {
        requireOpen();
        established(Objects.requireNonNull(done.connection()));
    }

    private void established(SocketConnection made) throws SocketException {
        stateLock.lock();
        try {
            if (isClosed()) {
                made.close(0);
            }
            requireOpen();
            connector = null;
            connection = made;
            forgotten.closesBy(() -> made.close(-1));
            address = made.peerAddress().getAddress();
            port = made.peerAddress().getPort();
            localport = made.localAddress().getPort();
            options.bound(made.localAddress().getAddress());
            keepAlive(made);
        } finally {
            stateLock.unlock();
        }
    }

    /** Takes a connection that was accepted, with the options of its listener. */
    void accepted(SocketConnection made, ChannelOptions ofListener) throws SocketException {
        options.named().inherit(ofListener);
        established(made);
    }

    // ---------------------------------------------------------------- bytes

    @Override
    protected InputStream getInputStream() {
        return new Input();
    }

    @Override
    protected OutputStream getOutputStream() {
        return new Output();
    }

    private final class Input extends SocketInput {
        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, into.length);
            return length == 0 ? 0 : StreamEndpoint.this.read(into, offset, length);
        }

        @Override
        public int available() throws IOException {
            return StreamEndpoint.this.available();
        }
    }

    private final class Output extends SocketOutput {
        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            StreamEndpoint.this.write(ByteBuffer.wrap(from, offset, length));
        }
    }

    private int read(byte[] into, int offset, int length) throws IOException {
        readLock.lock();
        try {
            SocketConnection from = requireConnected();
            toRead[0] = ByteBuffer.wrap(into, offset, length);
            TimeLimit limit = null;
            while (true) {
                long count = isInputShut ? -1 : from.read(toRead, 0, length);
                requireOpen();
                if (count != 0) {
                    return (int) count;
                }
                limit = limit == null ? options.limit() : limit;
                SocketWait.until(() -> from.hasInput() || isClosed() || isInputShut,
                        from::awaitReadable, limit, "Read");
            }
        } catch (IOException e) {
            throw asSocketException(e);
        } finally {
            toRead[0] = null;
            readLock.unlock();
        }
    }

    private void write(ByteBuffer from) throws IOException {
        writeLock.lock();
        try {
            SocketConnection to = requireConnected();
            toWrite[0] = from;
            while (from.hasRemaining()) {
                if (to.write(toWrite, 0, from.remaining()) == 0) {
                    SocketWait.until(() -> to.hasOutput() || isClosed(), to::awaitWritable,
                            TimeLimit.in(Long.MAX_VALUE), "Write");
                }
                requireOpen();
            }
        } catch (IOException e) {
            throw asSocketException(e);
        } finally {
            toWrite[0] = null;
            writeLock.unlock();
        }
    }

    private IOException asSocketException(IOException e) {
        if (e instanceof InterruptedIOException) {
            return e;
        }
        if (!isClosed() && e instanceof SocketException) {
            return e;
        }
        SocketException thrown = new SocketException(isClosed() ? "Socket closed" : e.getMessage());
        thrown.initCause(e);
        return thrown;
    }

    @Override
    protected int available() throws IOException {
        SocketConnection from = requireConnected();
        return isInputShut ? 0 : from.available();
    }

    @Override
    protected boolean supportsUrgentData() {
        return false;
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw new SocketException("Urgent data not supported");
    }

    // ---------------------------------------------------------------- the end

    @Override
    protected void shutdownInput() throws IOException {
        SocketConnection made = requireConnected();
        isInputShut = true;
        made.shutdownInput();
    }

    @Override
    protected void shutdownOutput() throws IOException {
        requireConnected().shutdownOutput();
    }

    @Override
    protected void close() {
        SocketConnection made;
        int linger = options.named().get(java.net.StandardSocketOptions.SO_LINGER);
        stateLock.lock();
        try {
            if (isClosed()) {
                return;
            }
            markClosed();
            made = connection;
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
            forgotten.forget();
        } finally {
            stateLock.unlock();
        }
        boolean isInUse = readLock.isLocked() || writeLock.isLocked();
        if (made != null && linger != 0 && !isInUse) {
            made.awaitOver(linger);
        }
    }

    // ---------------------------------------------------------------- options

    private void keepAlive(SocketConnection made) {
        SocketSettings settings = options.named().settings();
        made.keepalive(settings.keepalive() ? settings.keepaliveSeconds() : 0);
    }

    @Override
    void onOptions() {
        SocketConnection made = connection;
        if (made != null) {
            keepAlive(made);
        }
    }
}
