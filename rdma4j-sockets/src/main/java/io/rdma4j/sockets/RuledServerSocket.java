package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** The socket of a {@link RuledServerSocketChannel}. */
final class RuledServerSocket extends ServerSocket {
    private final RuledServerSocketChannel channel;
    private int timeoutMs;

    private RuledServerSocket(RuledServerSocketChannel channel) throws SocketException {
        super(new Nothing());
        this.channel = channel;
    }

    static RuledServerSocket of(RuledServerSocketChannel channel) {
        try {
            return new RuledServerSocket(channel);
        } catch (SocketException e) {
            throw new IllegalStateException("the constructor makes no socket", e);
        }
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        bind(local, 0);
    }

    @Override
    public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
        try {
            channel.bind(local, backlog);
        } catch (ClosedChannelException e) {
            throw closed();
        }
    }

    private static SocketException closed() {
        return new SocketException("Socket is closed");
    }

    @Override
    public Socket accept() throws IOException {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        try {
            SocketChannel accepted = channel.accept(timeoutMs);
            if (accepted == null) {
                throw new IllegalBlockingModeException();
            }
            return accepted.socket();
        } catch (ClosedChannelException e) {
            throw closed();
        } catch (NotYetBoundException e) {
            throw new SocketException("Socket is not bound yet", e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private @Nullable InetSocketAddress local() {
        try {
            return (InetSocketAddress) channel.getLocalAddress();
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = local();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public boolean isBound() {
        return local() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMs = timeout;
    }

    @Override
    public int getSoTimeout() {
        return timeoutMs;
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

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            channel.setOption(name, value);
        } catch (IOException e) {
            throw RuledSocket.ofOption(e);
        }
    }

    private <T> T option(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw RuledSocket.ofOption(e);
        }
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return option(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        RuledSocket.requirePositive(size);
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return option(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // As the JDK: nothing is to be preferred.
    }

    @Override
    public String toString() {
        return "ServerSocket[" + channel + "]";
    }

    /** Stands for the implementation that the constructor asks for; nothing is called on it. */
    private static final class Nothing extends SocketImpl {
        private static SocketException none() {
            return new SocketException("a socket of a channel has no implementation");
        }

        @Override
        protected void create(boolean stream) throws IOException {
            throw none();
        }

        @Override
        protected void connect(String host, int port) throws IOException {
            throw none();
        }

        @Override
        protected void connect(InetAddress address, int port) throws IOException {
            throw none();
        }

        @Override
        protected void connect(SocketAddress address, int timeout) throws IOException {
            throw none();
        }

        @Override
        protected void bind(InetAddress host, int port) throws IOException {
            throw none();
        }

        @Override
        protected void listen(int backlog) throws IOException {
            throw none();
        }

        @Override
        protected void accept(SocketImpl s) throws IOException {
            throw none();
        }

        @Override
        protected InputStream getInputStream() throws IOException {
            throw none();
        }

        @Override
        protected OutputStream getOutputStream() throws IOException {
            throw none();
        }

        @Override
        protected int available() throws IOException {
            throw none();
        }

        @Override
        protected void close() {
            // There is nothing to close.
        }

        @Override
        protected void sendUrgentData(int data) throws IOException {
            throw none();
        }

        @Override
        protected FileDescriptor getFileDescriptor() {
            return new FileDescriptor();
        }

        @Override
        public void setOption(int id, Object value) throws SocketException {
            throw none();
        }

        @Override
        public Object getOption(int id) throws SocketException {
            throw none();
        }
    }
}
