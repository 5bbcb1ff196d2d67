// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.udp;

import io.rdma4j.jdk.JdkProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/** A bound UDP socket that does not block. Thread safe. */
public final class UdpSocket {
    private final DatagramChannel channel;
    private final InetSocketAddress local;

    private UdpSocket(DatagramChannel channel, InetSocketAddress local) {
        this.channel = channel;
        this.local = local;
    }

    /**
     * {@return a socket}
     *
     * @param family of the addresses, null for both
     * @param reusesAddress whether the address may be shared
     * @param local null for any address; port 0 for any
     * @throws java.net.BindException if the address or the port cannot be had
     */
    public static UdpSocket bind(@Nullable ProtocolFamily family, boolean reusesAddress,
            @Nullable InetSocketAddress local) throws IOException {
        DatagramChannel channel = family == null
                ? JdkProvider.provider().openDatagramChannel()
                : JdkProvider.provider().openDatagramChannel(family);
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, reusesAddress);
            channel.bind(local).configureBlocking(false);
            return new UdpSocket(channel, (InetSocketAddress) channel.getLocalAddress());
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** {@return the local address from which the system reaches a peer} */
    public static InetAddress sourceFor(InetSocketAddress peer) throws IOException {
        try (DatagramChannel asked = JdkProvider.provider().openDatagramChannel()) {
            asked.connect(peer);
            return ((InetSocketAddress) asked.getLocalAddress()).getAddress();
        }
    }

    /** {@return where it is bound} */
    public InetSocketAddress local() {
        return local;
    }

    DatagramChannel channel() {
        return channel;
    }

    /** {@return from whom a message is, null if there is none} */
    public @Nullable InetSocketAddress receive(ByteBuffer into) throws IOException {
        return (InetSocketAddress) channel.receive(into);
    }

    /** Sends a message, which is lost if there is no room. */
    public void send(ByteBuffer message, InetSocketAddress to) throws IOException {
        channel.send(message, to);
    }

    /** Closes it, if nothing waits for it. Else {@link UdpWatch#close} does. */
    public void close() throws IOException {
        channel.close();
    }
}
