// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

/** Options of sockets, and their values. Source: socket(7), ip(7), ipv6(7), tcp(7), udp(7), unix(7). */
public final class SocketOption {
    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    public static final int SO_ERROR = 4;
    public static final int SO_SNDBUF = 7;
    public static final int SO_RCVBUF = 8;
    public static final int SO_KEEPALIVE = 9;
    public static final int SO_LINGER = 13;
    public static final int SO_REUSEPORT = 15;
    public static final int SO_PEERCRED = 17;
    public static final int SO_RCVTIMEO = 20;
    public static final int SO_SNDTIMEO = 21;
    public static final int SO_ATTACH_REUSEPORT_CBPF = 51;

    public static final int IPPROTO_IP = 0;
    public static final int IP_TOS = 1;
    public static final int IP_TTL = 2;
    /** By which interface, and from which address, a datagram leaves. */
    public static final int IP_PKTINFO = 8;
    public static final int IP_MTU_DISCOVER = 10;
    /** Whether a socket keeps what the system reports of its datagrams, such as ICMP messages. */
    public static final int IP_RECVERR = 11;
    /** The MTU of a connected socket's path. */
    public static final int IP_MTU = 14;
    public static final int IP_MULTICAST_IF = 32;
    public static final int IP_MULTICAST_TTL = 33;
    public static final int IP_ADD_MEMBERSHIP = 35;
    /** Whether a socket also receives from groups that other sockets have joined; 1 by default. */
    public static final int IP_MULTICAST_ALL = 49;
    /** By which interface a socket looks for routes; in network byte order. */
    public static final int IP_UNICAST_IF = 50;
    public static final int IP_PMTUDISC_DO = 2;

    public static final int IPPROTO_TCP = 6;
    public static final int TCP_NODELAY = 1;

    public static final int IPPROTO_IPV6 = 41;
    public static final int IPV6_UNICAST_HOPS = 16;
    public static final int IPV6_MULTICAST_IF = 17;
    public static final int IPV6_MULTICAST_HOPS = 18;
    public static final int IPV6_ADD_MEMBERSHIP = 20;
    public static final int IPV6_MTU_DISCOVER = 23;
    /** As {@link #IP_RECVERR}. */
    public static final int IPV6_RECVERR = 25;
    /** As {@link #IP_MTU}. */
    public static final int IPV6_MTU = 24;
    /** As {@link #IP_MULTICAST_ALL}, since Linux 4.20. */
    public static final int IPV6_MULTICAST_ALL = 29;
    /** As {@link #IP_PKTINFO}. */
    public static final int IPV6_PKTINFO = 50;
    public static final int IPV6_HOPLIMIT = 52;
    public static final int IPV6_TCLASS = 67;
    /** As {@link #IP_UNICAST_IF}. */
    public static final int IPV6_UNICAST_IF = 76;

    public static final int IPPROTO_UDP = 17;
    /** Receives UDP over IPv6 without a checksum, as Linux's own RoCE driver sends it. */
    public static final int UDP_NO_CHECK6_RX = 102;
    public static final int UDP_SEGMENT = 103;
    public static final int UDP_GRO = 104;

    private SocketOption() {}

    /** {@return the name of an option, for texts} */
    public static String name(int level, int option) {
        return switch (level) {
            case SOL_SOCKET -> ofSocket(option);
            case IPPROTO_IP -> ofIpv4(option);
            case IPPROTO_TCP -> option == TCP_NODELAY ? "TCP_NODELAY" : "an option of TCP";
            case IPPROTO_IPV6 -> ofIpv6(option);
            case IPPROTO_UDP -> ofUdp(option);
            default -> "an option of another protocol";
        };
    }

    private static String ofSocket(int option) {
        return switch (option) {
            case SO_REUSEADDR -> "SO_REUSEADDR";
            case SO_ERROR -> "SO_ERROR";
            case SO_SNDBUF -> "SO_SNDBUF";
            case SO_RCVBUF -> "SO_RCVBUF";
            case SO_KEEPALIVE -> "SO_KEEPALIVE";
            case SO_LINGER -> "SO_LINGER";
            case SO_REUSEPORT -> "SO_REUSEPORT";
            case SO_PEERCRED -> "SO_PEERCRED";
            case SO_RCVTIMEO -> "SO_RCVTIMEO";
            case SO_SNDTIMEO -> "SO_SNDTIMEO";
            case SO_ATTACH_REUSEPORT_CBPF -> "SO_ATTACH_REUSEPORT_CBPF";
            default -> "an option of sockets";
        };
    }

    private static String ofIpv4(int option) {
        return switch (option) {
            case IP_TOS -> "IP_TOS";
            case IP_TTL -> "IP_TTL";
            case IP_PKTINFO -> "IP_PKTINFO";
            case IP_MTU_DISCOVER -> "IP_MTU_DISCOVER";
            case IP_RECVERR -> "IP_RECVERR";
            case IP_MTU -> "IP_MTU";
            case IP_UNICAST_IF -> "IP_UNICAST_IF";
            case IP_MULTICAST_IF -> "IP_MULTICAST_IF";
            case IP_MULTICAST_TTL -> "IP_MULTICAST_TTL";
            case IP_ADD_MEMBERSHIP -> "IP_ADD_MEMBERSHIP";
            case IP_MULTICAST_ALL -> "IP_MULTICAST_ALL";
            default -> "an option of IPv4";
        };
    }

    private static String ofIpv6(int option) {
        return switch (option) {
            case IPV6_UNICAST_HOPS -> "IPV6_UNICAST_HOPS";
            case IPV6_MTU -> "IPV6_MTU";
            case IPV6_UNICAST_IF -> "IPV6_UNICAST_IF";
            case IPV6_MULTICAST_IF -> "IPV6_MULTICAST_IF";
            case IPV6_MULTICAST_HOPS -> "IPV6_MULTICAST_HOPS";
            case IPV6_ADD_MEMBERSHIP -> "IPV6_ADD_MEMBERSHIP";
            case IPV6_MTU_DISCOVER -> "IPV6_MTU_DISCOVER";
            case IPV6_PKTINFO -> "IPV6_PKTINFO";
            case IPV6_RECVERR -> "IPV6_RECVERR";
            case IPV6_MULTICAST_ALL -> "IPV6_MULTICAST_ALL";
            case IPV6_HOPLIMIT -> "IPV6_HOPLIMIT";
            case IPV6_TCLASS -> "IPV6_TCLASS";
            default -> "an option of IPv6";
        };
    }

    private static String ofUdp(int option) {
        return switch (option) {
            case UDP_NO_CHECK6_RX -> "UDP_NO_CHECK6_RX";
            case UDP_SEGMENT -> "UDP_SEGMENT";
            case UDP_GRO -> "UDP_GRO";
            default -> "an option of UDP";
        };
    }
}
