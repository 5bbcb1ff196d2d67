// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** The server socket of a channel, which has no state of its own but the time that accepting may take. Thread safe. */
final class ChannelServerSocket extends ServerSocket {
    /** As {@link ServerSocket} has it. */
    private static final int BACKLOG = 50;

    private final ServerSocketChannel channel;
    private final Operations operations;
    private final SocketOfChannel common;

    /** What it needs of the channel beside the public methods. */
    interface Operations {
        /**
         * As the accept of the channel.
         *
         * @param timeoutNs {@link Long#MAX_VALUE} for no limit
         * @throws java.net.SocketTimeoutException if nobody connects in time
         * @throws java.nio.channels.IllegalBlockingModeException if the channel does not block
         */
        SocketChannel accept(long timeoutNs) throws IOException;

        /** {@return where it is bound, null if it is not; also after the end} */
        @Nullable
        InetSocketAddress local();
    }

    ChannelServerSocket(ServerSocketChannel channel, Operations operations) {
        super(new NoEndpoint());
        this.channel = channel;
        this.operations = operations;
        common = new SocketOfChannel(channel);
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        bind(local, BACKLOG);
    }

    @Override
    public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
        SocketExceptions.translated(() -> channel
                .bind(local == null ? new InetSocketAddress(0) : local, backlog));
    }

    @Override
    public Socket accept() throws IOException {
        long limitNs = common.timeoutNs();
        return SocketExceptions.translated(() -> operations.accept(limitNs)).socket();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = operations.local();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = operations.local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return operations.local();
    }

    @Override
    public boolean isBound() {
        return operations.local() != null;
    }

    @Override
    public boolean isClosed() {
        return common.isClosed();
    }

    // ---------------------------------------------------------------- options

    @Override
    public void setSoTimeout(int milliseconds) throws SocketException {
        common.setTimeoutMs(milliseconds);
    }

    @Override
    public int getSoTimeout() throws IOException {
        return common.timeoutMs();
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
    public void setReceiveBufferSize(int bytes) throws SocketException {
        common.setSize(StandardSocketOptions.SO_RCVBUF, bytes, "size cannot be 0 or negative");
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return common.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
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
        InetSocketAddress local = operations.local();
        return local == null
                ? "ServerSocket[unbound]"
                : "ServerSocket[addr=/" + local.getAddress().getHostAddress() + ",localport="
                        + local.getPort() + "]";
    }
}
