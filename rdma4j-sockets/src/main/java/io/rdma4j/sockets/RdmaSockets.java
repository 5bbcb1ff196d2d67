// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.net.DatagramSocket;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;

/**
 * Opens channels, selectors and sockets over RDMA. They speak rdma-core's rsocket protocol, so the other end may be a C program. The methods are those
 * of JEP 337's {@code jdk.net.RdmaSockets}.
 *
 * <pre>
 * try (RdmaSocketChannel channel = RdmaSockets.openSocketChannel()) {
 *     channel.connect(new InetSocketAddress(host, port));
 *     channel.write(ByteBuffer.wrap("hello".getBytes(UTF_8)));
 * }
 * </pre>
 *
 * <p>A port of these is none of TCP, except on iWARP devices. Thread safe.
 *
 * @since 0.1.0
 */
public final class RdmaSockets {
    private RdmaSockets() {}

    /** {@return a channel that is neither bound nor connected} C: {@index rsocket}. */
    public static RdmaSocketChannel openSocketChannel() {
        return RdmaSelectorProvider.INSTANCE.openSocketChannel();
    }

    /**
     * {@return a channel that is neither bound nor connected}
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} or {@link java.net.StandardProtocolFamily#INET6}, which has both
     *        kinds of addresses
     * @throws UnsupportedOperationException for another family
     */
    public static RdmaSocketChannel openSocketChannel(ProtocolFamily family) {
        return RdmaSelectorProvider.INSTANCE.openSocketChannel(family);
    }

    /** {@return a listening channel that is not bound} */
    public static RdmaServerSocketChannel openServerSocketChannel() {
        return RdmaSelectorProvider.INSTANCE.openServerSocketChannel();
    }

    /**
     * {@return a listening channel that is not bound}
     *
     * @param family as for {@link #openSocketChannel(ProtocolFamily)}
     * @throws UnsupportedOperationException for another family
     */
    public static RdmaServerSocketChannel openServerSocketChannel(ProtocolFamily family) {
        return RdmaSelectorProvider.INSTANCE.openServerSocketChannel(family);
    }

    /** {@return a channel for datagrams that is neither bound nor connected} It needs a RoCE device. */
    public static RdmaDatagramChannel openDatagramChannel() {
        return new RdmaDatagramChannel(RdmaSelectorProvider.INSTANCE, null);
    }

    /**
     * {@return a channel for datagrams that is neither bound nor connected} As {@link #openDatagramChannel()}.
     *
     * @param family as for {@link #openSocketChannel(ProtocolFamily)}
     * @throws UnsupportedOperationException for another family
     */
    public static RdmaDatagramChannel openDatagramChannel(ProtocolFamily family) {
        return new RdmaDatagramChannel(RdmaSelectorProvider.INSTANCE,
                ChannelAddresses.requireInternet(family));
    }

    /**
     * {@return a datagram socket that is not bound} It does what {@link DatagramSocket} says: an interruption closes it only in a
     * virtual thread. It has no channel and no groups, and needs a RoCE device. A datagram has as many bytes as one of {@link RdmaDatagramChannel}.
     */
    public static DatagramSocket openDatagramSocket() {
        return RdmaDatagramChannel.openSocket(null);
    }

    /**
     * {@return a datagram socket that is not bound} As {@link #openDatagramSocket()}.
     *
     * @param family as for {@link #openSocket(ProtocolFamily)}
     * @throws UnsupportedOperationException for another family
     */
    public static DatagramSocket openDatagramSocket(ProtocolFamily family) {
        return RdmaDatagramChannel.openSocket(ChannelAddresses.requireInternet(family));
    }

    /** {@return a selector for channels over RDMA, and for the JDK's beside them} */
    public static Selector openSelector() {
        return RdmaSelectorProvider.INSTANCE.openSelector();
    }

    /**
     * {@return a socket that is neither bound nor connected} It does what {@link Socket} says: an interruption closes it only in a
     * virtual thread. It has no channel, and no urgent data.
     */
    public static Socket openSocket() {
        return RdmaSocket.open(null);
    }

    /**
     * {@return a socket that is neither bound nor connected} As {@link #openSocket()}.
     *
     * @param family as for {@link #openSocketChannel(ProtocolFamily)}; a socket of {@link java.net.StandardProtocolFamily#INET} throws {@link
     *        java.nio.channels.UnsupportedAddressTypeException} for an IPv6 address
     * @throws UnsupportedOperationException for another family
     */
    public static Socket openSocket(ProtocolFamily family) {
        return RdmaSocket.open(ChannelAddresses.requireInternet(family));
    }

    /**
     * {@return a server socket that is not bound} Its sockets are as those of {@link #openSocket}.
     */
    public static ServerSocket openServerSocket() {
        return new RdmaServerSocket(null);
    }

    /**
     * {@return a server socket that is not bound} As {@link #openServerSocket()}.
     *
     * @param family as for {@link #openSocket(ProtocolFamily)}
     * @throws UnsupportedOperationException for another family
     */
    public static ServerSocket openServerSocket(ProtocolFamily family) {
        return new RdmaServerSocket(ChannelAddresses.requireInternet(family));
    }
}
