// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/** Checks addresses as the JDK's channels do. */
final class ChannelAddresses {
    private ChannelAddresses() {}

    /** {@return the family, if it is one of IP} */
    static ProtocolFamily requireInternet(ProtocolFamily family) {
        Objects.requireNonNull(family, "'family' is null");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("Protocol family not supported: " + family);
        }
        return family;
    }

    /** {@return an address that is one of IP, resolved, and of the family} */
    static InetSocketAddress require(SocketAddress address, @Nullable ProtocolFamily family) {
        Objects.requireNonNull(address);
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (family == StandardProtocolFamily.INET
                && internet.getAddress() instanceof Inet6Address) {
            throw new UnsupportedAddressTypeException();
        }
        return internet;
    }

    /** {@return where to bind a socket, of which the wildcard address stands for any of the family} */
    static InetSocketAddress local(InetAddress host, int port, @Nullable ProtocolFamily family) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        return host.isAnyLocalAddress() ? address : require(address, family);
    }

    /** {@return where to connect: the wildcard address stands for this host} */
    static InetSocketAddress remote(SocketAddress address, @Nullable ProtocolFamily family)
            throws IOException {
        InetSocketAddress internet = require(address, family);
        return internet.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLocalHost(), internet.getPort())
                : internet;
    }

    /** {@return where to bind: null stands for any address and port} */
    static InetSocketAddress local(@Nullable SocketAddress address,
            @Nullable ProtocolFamily family) {
        return address == null ? new InetSocketAddress(0) : require(address, family);
    }
}
