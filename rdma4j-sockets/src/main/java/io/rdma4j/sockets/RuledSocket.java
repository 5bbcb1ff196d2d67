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
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** The socket of a {@link RuledSocketChannel}: once that has decided, what can time out is done by the socket of the chosen channel. */
final class RuledSocket extends Socket {
    private final RuledSocketChannel channel;
    private int timeoutMs;

    private RuledSocket(RuledSocketChannel channel) throws SocketException {
        super(noImpl());
        this.channel = channel;
    }

    static RuledSocket of(RuledSocketChannel channel) {
        try {
            return new RuledSocket(channel);
        } catch (SocketException e) {
            throw new IllegalStateException("the constructor makes no socket", e);
        }
    }

    /** Nothing of the JDK's is behind it. */
    private static @Nullable SocketImpl noImpl() {
        return null;
    }

    /** {@return the socket of the chosen channel, null while nothing is chosen} */
    private @Nullable Socket chosen() {
        SocketChannel made = channel.chosen();
        return made == null ? null : made.socket();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int timeoutMs) throws IOException {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        try {
            if (timeoutMs == 0) {
                channel.connect(remote);
            } else {
                channel.connect(remote, timeoutMs);
            }
        } catch (ClosedChannelException e) {
            throw closed();
        } catch (AlreadyConnectedException e) {
            throw new SocketException("already connected", e);
        }
    }

    private static SocketException closed() {
        return new SocketException("Socket is closed");
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (ClosedChannelException e) {
            throw closed();
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    // ---------------------------------------------------------------- what it is

    private @Nullable InetSocketAddress local() {
        try {
            return (InetSocketAddress) channel.getLocalAddress();
        } catch (IOException e) {
            return null;
        }
    }

    private @Nullable InetSocketAddress remote() {
        try {
            return (InetSocketAddress) channel.getRemoteAddress();
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = local();
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = remote();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return remote();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
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
    public boolean isInputShutdown() {
        Socket chosen = chosen();
        return chosen != null && chosen.isInputShutdown();
    }

    @Override
    public boolean isOutputShutdown() {
        Socket chosen = chosen();
        return chosen != null && chosen.isOutputShutdown();
    }

    // ---------------------------------------------------------------- bytes

    private Socket requireConnected() throws SocketException {
        if (isClosed()) {
            throw closed();
        }
        Socket chosen = chosen();
        if (chosen == null || !channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        chosen.setSoTimeout(timeoutMs);
        return chosen;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return requireConnected().getInputStream();
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return requireConnected().getOutputStream();
    }

    @Override
    public void shutdownInput() throws IOException {
        requireConnected().shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        requireConnected().shutdownOutput();
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        requireConnected().sendUrgentData(data);
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        if (isClosed()) {
            throw closed();
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMs = timeout;
        Socket chosen = chosen();
        if (chosen != null) {
            chosen.setSoTimeout(timeout);
        }
    }

    @Override
    public int getSoTimeout() throws SocketException {
        if (isClosed()) {
            throw closed();
        }
        return timeoutMs;
    }

    // ---------------------------------------------------------------- options

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

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            channel.setOption(name, value);
        } catch (IOException e) {
            throw ofOption(e);
        }
    }

    private <T> T option(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw ofOption(e);
        }
    }

    static SocketException ofOption(IOException error) {
        return switch (error) {
            case SocketException same -> same;
            case ClosedChannelException _ -> closed();
            default -> new SocketException(error.getMessage(), error);
        };
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return option(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        if (on && seconds < 0) {
            throw new IllegalArgumentException("invalid value for SO_LINGER");
        }
        set(StandardSocketOptions.SO_LINGER, on ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return option(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        // The JDK's option does nothing without urgent data, which rsockets do not have.
        SocketChannel made = channel.chosen();
        if (made != null && !(made instanceof RdmaSocketChannel)) {
            made.socket().setOOBInline(on);
        }
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        SocketChannel made = channel.chosen();
        return made != null && !(made instanceof RdmaSocketChannel)
                && made.socket().getOOBInline();
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        requirePositive(size);
        set(StandardSocketOptions.SO_SNDBUF, size);
    }

    static void requirePositive(int size) {
        if (size <= 0) {
            throw new IllegalArgumentException("negative or zero size: " + size);
        }
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return option(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        requirePositive(size);
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return option(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return option(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int value) throws SocketException {
        set(StandardSocketOptions.IP_TOS, value);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return option(StandardSocketOptions.IP_TOS);
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
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // As the JDK: nothing is to be preferred.
    }

    @Override
    public String toString() {
        return "Socket[" + channel + "]";
    }
}
