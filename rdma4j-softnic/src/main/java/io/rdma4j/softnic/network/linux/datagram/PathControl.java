// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.linux.calls.ControlMessage;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IPV6;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_HOPLIMIT;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_PKTINFO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_TCLASS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_PKTINFO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TOS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TTL;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The IP header fields of a path, and the interface that its packets leave by, as control messages; empty if they are the
 * defaults of the socket.
 */
final class PathControl {
    /** struct in_pktinfo: interface, local address, destination; in6_pktinfo: address, interface. */
    private static final int PACKET_INFO_4 = 12;
    private static final int LOCAL_4 = 4;
    private static final int PACKET_INFO_6 = 20;
    private static final int INTERFACE_6 = 16;
    /** Room for all of them. */
    static final long MAX_LENGTH = 2 * ControlMessage.SPACE + ControlMessage.room(PACKET_INFO_6);

    private static final ValueLayout.OfInt U32 = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private PathControl() {}

    /**
     * {@return the bytes of the control messages of a path, written to the start}
     *
     * @param interfaceIndex of the interface to leave by, 0 for that which the system chooses
     */
    static long write(MemorySegment control, Path path, int interfaceIndex) {
        boolean isIpv4 = path.source().isIpv4();
        int level = isIpv4 ? IPPROTO_IP : IPPROTO_IPV6;
        long at = 0;
        if (path.trafficClass() != 0) {
            at = ControlMessage.write(control, at, level, isIpv4 ? IP_TOS : IPV6_TCLASS,
                    path.trafficClass() & 0xff);
        }
        if (path.hops() != Path.DEFAULT_HOPS) {
            at = ControlMessage.write(control, at, level, isIpv4 ? IP_TTL : IPV6_HOPLIMIT,
                    path.hops());
        }
        if (interfaceIndex == 0) {
            return at;
        }
        return isIpv4
                ? writeInterface4(control, at, path, interfaceIndex)
                : writeInterface6(control, at, interfaceIndex);
    }

    private static long writeInterface4(MemorySegment control, long at, Path path,
            int interfaceIndex) {
        long value = ControlMessage.begin(control, at, IPPROTO_IP, IP_PKTINFO, PACKET_INFO_4);
        control.set(JAVA_INT, value, interfaceIndex);
        // Without it the system would choose the source address by the interface, whatever the socket is bound to.
        control.set(U32, value + LOCAL_4, (int) path.source().low());
        return at + ControlMessage.room(PACKET_INFO_4);
    }

    private static long writeInterface6(MemorySegment control, long at, int interfaceIndex) {
        long value = ControlMessage.begin(control, at, IPPROTO_IPV6, IPV6_PKTINFO, PACKET_INFO_6);
        control.set(JAVA_INT, value + INTERFACE_6, interfaceIndex);
        return at + ControlMessage.room(PACKET_INFO_6);
    }
}
