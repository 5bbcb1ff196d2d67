// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;

/**
 * The socket of a channel, which has no state of its own but the time that reads may take and what is kept for programs that ask.
 * Thread safe.
 */
final class ChannelSocket extends Socket {
    private final SocketChannel channel;
    private final BlockingOperations operations;
    private final SocketOfChannel common;
    private volatile boolean isUrgentInline;

    private ChannelSocket(SocketChannel channel, BlockingOperations operations)
            throws SocketException {
        super((SocketImpl) null);
        this.channel = channel;
        this.operations = operations;
        common = new SocketOfChannel(channel);
    }

    static ChannelSocket of(SocketChannel channel, BlockingOperations operations) {
        try {
            return new ChannelSocket(channel, operations);
        } catch (SocketException e) {
            throw new IllegalStateException("nothing is opened that could fail", e);
        }
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    // ---------------------------------------------------------------- addresses

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        SocketExceptions.translated(() -> channel.bind(local));
    }

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int limitMs) throws IOException {
        if (remote == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (remote instanceof InetSocketAddress internet && internet.isUnresolved()) {
            common.requireOpen();
            if (channel.isConnected()) {
                throw new SocketException("Already connected");
            }
            close();
            throw new UnknownHostException(internet.getHostString());
        }
        if (limitMs < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        SocketExceptions.translated(() -> {
            operations.connect(remote, SocketOfChannel.nanoseconds(limitMs));
            return this;
        });
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = operations.remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = operations.local();
        return local == null || isClosed()
                ? new InetSocketAddress(0).getAddress()
                : local.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = operations.remote();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = operations.local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return operations.remote();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return operations.local();
    }

    // ---------------------------------------------------------------- streams

    @Override
    public InputStream getInputStream() throws IOException {
        common.requireOpen();
        requireConnected();
        if (isInputShutdown()) {
            throw new SocketException("Socket input is shutdown");
        }
        return new Input();
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        common.requireOpen();
        requireConnected();
        if (isOutputShutdown()) {
            throw new SocketException("Socket output is shutdown");
        }
        return new Output();
    }

    private void requireConnected() throws SocketException {
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
    }

    /** Reads from the channel. */
    private final class Input extends SocketInput {
        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, into.length);
            return length == 0
                    ? 0
                    : operations.read(ByteBuffer.wrap(into, offset, length), common.timeoutNs());
        }

        @Override
        public int available() throws IOException {
            return operations.available();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Writes to the channel. */
    private final class Output extends SocketOutput {
        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(from, offset, length);
            while (buffer.hasRemaining()) {
                operations.write(buffer);
                if (buffer.hasRemaining() && isClosed()) {
                    // A write of a part of it says nothing of the end.
                    throw Thread.currentThread().isInterrupted()
                            ? new ClosedByInterruptException()
                            : new AsynchronousCloseException();
                }
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        throw new SocketException("Urgent data not supported");
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void shutdownInput() throws IOException {
        SocketExceptions.translated(channel::shutdownInput);
    }

    @Override
    public void shutdownOutput() throws IOException {
        SocketExceptions.translated(channel::shutdownOutput);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public boolean isBound() {
        return operations.local() != null;
    }

    @Override
    public boolean isClosed() {
        return common.isClosed();
    }

    @Override
    public boolean isInputShutdown() {
        return operations.isInputShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return operations.isOutputShut();
    }

    // ---------------------------------------------------------------- options

    @Override
    public void setTcpNoDelay(boolean isOn) throws SocketException {
        common.set(StandardSocketOptions.TCP_NODELAY, isOn);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return common.get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean isOn, int seconds) throws SocketException {
        common.set(StandardSocketOptions.SO_LINGER, isOn ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return common.get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean isOn) throws SocketException {
        common.requireOpen();
        isUrgentInline = isOn;
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        common.requireOpen();
        return isUrgentInline;
    }

    @Override
    public void setSoTimeout(int milliseconds) throws SocketException {
        common.setTimeoutMs(milliseconds);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return common.timeoutMs();
    }

    @Override
    public void setSendBufferSize(int bytes) throws SocketException {
        common.setSize(StandardSocketOptions.SO_SNDBUF, bytes, "Invalid send size");
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return common.get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int bytes) throws SocketException {
        common.setSize(StandardSocketOptions.SO_RCVBUF, bytes, "Invalid receive size");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return common.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean isOn) throws SocketException {
        common.set(StandardSocketOptions.SO_KEEPALIVE, isOn);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return common.get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int typeOfService) throws SocketException {
        common.set(StandardSocketOptions.IP_TOS, typeOfService);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return common.get(StandardSocketOptions.IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean isOn) throws SocketException {
        common.set(StandardSocketOptions.SO_REUSEADDR, isOn);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return common.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        InetSocketAddress remote = operations.remote();
        return remote == null || !isConnected()
                ? "Socket[unconnected]"
                : "Socket[addr=/" + remote.getAddress().getHostAddress() + ",port="
                        + remote.getPort() + ",localport=" + getLocalPort() + "]";
    }
}
