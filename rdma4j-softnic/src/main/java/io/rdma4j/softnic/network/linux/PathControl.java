package io.rdma4j.softnic.network.linux;

import io.rdma4j.protocol.roce.wire.Path;

import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.linux.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.SocketOption.IPPROTO_IPV6;
import static io.rdma4j.softnic.network.linux.SocketOption.IPV6_HOPLIMIT;
import static io.rdma4j.softnic.network.linux.SocketOption.IPV6_TCLASS;
import static io.rdma4j.softnic.network.linux.SocketOption.IP_TOS;
import static io.rdma4j.softnic.network.linux.SocketOption.IP_TTL;

/** The IP header fields of a path as control messages; empty if they are the defaults of the socket. */
final class PathControl {
    /** Room for all of them. */
    static final long MAX_LENGTH = 2 * ControlMessage.SPACE;

    private PathControl() {}

    /** {@return the bytes of the control messages of a path, written to the start} */
    static long write(MemorySegment control, Path path) {
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
        return at;
    }
}
