// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IPV6;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_MTU;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_UNICAST_IF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_MTU;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_UNICAST_IF;

/**
 * Asks the system how long packets to a destination may be: by what the interface and the route allow, and by what routers
 * have reported. It connects a socket for that, which sends nothing; the sockets of ports must not be connected. For any
 * thread. Source: ip(7), {@code IP_MTU}; ipv6(7).
 */
final class PathProbe {
    /** The system does not say. */
    static final int UNKNOWN = Integer.MAX_VALUE;

    private PathProbe() {}

    /**
     * {@return the bytes of the longest IP packet that passes, or {@link #UNKNOWN}}
     *
     * @param interfaceIndex of the interface that link-local addresses belong to
     */
    static int longestPacket(Gid local, Gid remote, int interfaceIndex) {
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket probe = LinuxSocket.open(SocketAddress.family(local), call);
            try {
                leaveBy(probe, local, Ways.interfaceTo(local, remote, interfaceIndex));
                MemorySegment name = call.allocate(SocketAddress.MAX_LENGTH, 8);
                probe.bind(name, SocketAddress.write(name, local, 0, interfaceIndex));
                probe.connect(name,
                        SocketAddress.write(name, remote, Path.UDP_PORT, interfaceIndex));
                return local.isIpv4()
                        ? probe.get(IPPROTO_IP, IP_MTU)
                        : probe.get(IPPROTO_IPV6, IPV6_MTU);
            } finally {
                probe.close();
            }
        } catch (LinuxSocket.Refused noRoute) {
            return UNKNOWN;
        }
    }

    /** As the packets do, which have it in a control message. */
    private static void leaveBy(LinuxSocket probe, Gid local, int interfaceIndex) {
        if (interfaceIndex == 0) {
            return;
        }
        int inNetworkOrder = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
                ? interfaceIndex
                : Integer.reverseBytes(interfaceIndex);
        if (local.isIpv4()) {
            probe.trySet(IPPROTO_IP, IP_UNICAST_IF, inNetworkOrder);
        } else {
            probe.trySet(IPPROTO_IPV6, IPV6_UNICAST_IF, inNetworkOrder);
        }
    }
}
