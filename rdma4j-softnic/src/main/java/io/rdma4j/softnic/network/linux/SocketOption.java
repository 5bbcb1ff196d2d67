package io.rdma4j.softnic.network.linux;

/** Options of sockets, and their values. Source: socket(7), ip(7), ipv6(7), tcp(7), udp(7). */
final class SocketOption {
    static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    static final int SO_ERROR = 4;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_KEEPALIVE = 9;
    static final int SO_LINGER = 13;
    static final int SO_REUSEPORT = 15;
    static final int SO_ATTACH_REUSEPORT_CBPF = 51;

    static final int IPPROTO_IP = 0;
    static final int IP_TOS = 1;
    static final int IP_TTL = 2;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_MULTICAST_IF = 32;
    static final int IP_MULTICAST_TTL = 33;
    static final int IP_ADD_MEMBERSHIP = 35;
    /** Whether a socket also receives from groups that other sockets have joined; 1 by default. */
    static final int IP_MULTICAST_ALL = 49;
    static final int IP_PMTUDISC_DO = 2;

    static final int IPPROTO_TCP = 6;
    static final int TCP_NODELAY = 1;

    static final int IPPROTO_IPV6 = 41;
    static final int IPV6_UNICAST_HOPS = 16;
    static final int IPV6_MULTICAST_IF = 17;
    static final int IPV6_MULTICAST_HOPS = 18;
    static final int IPV6_ADD_MEMBERSHIP = 20;
    static final int IPV6_MTU_DISCOVER = 23;
    /** As {@link #IP_MULTICAST_ALL}, since Linux 4.20. */
    static final int IPV6_MULTICAST_ALL = 29;
    static final int IPV6_HOPLIMIT = 52;
    static final int IPV6_TCLASS = 67;

    static final int IPPROTO_UDP = 17;
    /** Receives UDP over IPv6 without a checksum, as Linux's own RoCE driver sends it. */
    static final int UDP_NO_CHECK6_RX = 102;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    private SocketOption() {}
}
