// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Set;

/**
 * The datagram socket of a channel, which has no state of its own but the time that receiving may take, and the room of the packets it has filled.
 * Thread safe.
 */
final class ChannelDatagramSocket extends DatagramSocket {
    private final DatagramChannel channel;
    private final DatagramOperations operations;
    private final SocketOfChannel common;
    /** Whether programs see the channel. */
    private final boolean showsChannel;
    private final PacketRooms rooms = new PacketRooms();

    ChannelDatagramSocket(DatagramChannel channel, DatagramOperations operations,
            boolean showsChannel) {
        super(new NoDatagrams());
        this.channel = channel;
        this.operations = operations;
        common = new SocketOfChannel(channel);
        this.showsChannel = showsChannel;
    }

    @Override
    public @Nullable DatagramChannel getChannel() {
        return showsChannel ? channel : null;
    }

    private static <T> T translated(SocketExceptions.Call<T> call) throws SocketException {
        return SocketExceptions.translatedAll(() -> SocketExceptions.translated(call));
    }

    // ---------------------------------------------------------------- addresses

    @Override
    public void bind(@Nullable SocketAddress local) throws SocketException {
        InetSocketAddress address = local == null
                ? new InetSocketAddress(0)
                : requireInternet(local);
        translated(() -> channel.bind(address));
    }

    private static InetSocketAddress requireInternet(SocketAddress address) {
        if (address instanceof InetSocketAddress internet) {
            return internet;
        }
        throw new UnsupportedAddressTypeException();
    }

    @Override
    public void connect(InetAddress address, int port) {
        if (address == null) {
            throw new IllegalArgumentException("Address can't be null");
        }
        try {
            connect(new InetSocketAddress(address, port));
        } catch (SocketException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void connect(SocketAddress remote) throws SocketException {
        if (remote == null) {
            throw new IllegalArgumentException("Address can't be null");
        }
        requireInternet(remote);
        translated(() -> {
            try {
                operations.connect(remote);
            } catch (ClosedChannelException e) {
                // As the JDK's socket does: who sends or receives learns of it.
            }
            return this;
        });
    }

    @Override
    public void disconnect() {
        try {
            channel.disconnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isBound() {
        return operations.local() != null;
    }

    @Override
    public boolean isConnected() {
        return operations.remote() != null;
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = operations.remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = operations.remote();
        return remote == null ? -1 : remote.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return operations.remote();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return isClosed() ? null : operations.local();
    }

    @Override
    public @Nullable InetAddress getLocalAddress() {
        if (isClosed()) {
            return null;
        }
        InetSocketAddress local = operations.local();
        return (local == null ? new InetSocketAddress(0) : local).getAddress();
    }

    @Override
    public int getLocalPort() {
        if (isClosed()) {
            return -1;
        }
        InetSocketAddress local = operations.local();
        return local == null ? 0 : local.getPort();
    }

    // ---------------------------------------------------------------- datagrams

    @Override
    public void send(DatagramPacket packet) throws IOException {
        synchronized (packet) {
            try {
                if (!channel.isOpen()) {
                    throw new ClosedChannelException();
                }
                if (!channel.isBlocking()) {
                    throw new IllegalBlockingModeException();
                }
                SocketAddress to = destination(packet);
                channel.send(ByteBuffer.wrap(packet.getData(), packet.getOffset(),
                        packet.getLength()), to);
            } catch (AlreadyConnectedException e) {
                throw new IllegalArgumentException("Connected and packet address differ", e);
            } catch (ClosedChannelException e) {
                throw closed(e);
            }
        }
    }

    private SocketAddress destination(DatagramPacket packet) {
        if (packet.getAddress() == null) {
            InetSocketAddress remote = operations.remote();
            if (remote == null) {
                throw new IllegalArgumentException("Address not set");
            }
            packet.setSocketAddress(remote);
        }
        return packet.getSocketAddress();
    }

    @Override
    public void receive(DatagramPacket packet) throws IOException {
        synchronized (packet) {
            try {
                ByteBuffer room = ByteBuffer.wrap(packet.getData(), packet.getOffset(),
                        rooms.of(packet));
                SocketAddress from = operations.receive(room, common.timeoutNs());
                rooms.fill(packet, room.position() - packet.getOffset());
                packet.setSocketAddress(from);
            } catch (SocketTimeoutException | ClosedByInterruptException e) {
                throw e;
            } catch (InterruptedIOException e) {
                close();
                SocketException thrown = new SocketException("Closed by interrupt");
                thrown.initCause(e);
                throw thrown;
            } catch (ClosedChannelException e) {
                throw closed(e);
            }
        }
    }

    private static SocketException closed(ClosedChannelException cause) {
        SocketException thrown = new SocketException("Socket closed");
        thrown.initCause(cause);
        return thrown;
    }

    @Override
    public void joinGroup(SocketAddress group, @Nullable NetworkInterface by) throws IOException {
        operations.joinGroup(group, by);
    }

    @Override
    public void leaveGroup(SocketAddress group, @Nullable NetworkInterface by) throws IOException {
        operations.leaveGroup(group, by);
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    // ---------------------------------------------------------------- options

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
    public void setReuseAddress(boolean isOn) throws SocketException {
        common.set(StandardSocketOptions.SO_REUSEADDR, isOn);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return common.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setBroadcast(boolean isOn) throws SocketException {
        common.set(StandardSocketOptions.SO_BROADCAST, isOn);
    }

    @Override
    public boolean getBroadcast() throws SocketException {
        return common.get(StandardSocketOptions.SO_BROADCAST);
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
    public <T> DatagramSocket setOption(SocketOption<T> name, T value) throws IOException {
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
        return "DatagramSocket[" + channel + "]";
    }
}
