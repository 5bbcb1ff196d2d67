// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import io.rdma4j.softnic.network.LinkScope;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** {@code struct sockaddr_in} and {@code sockaddr_in6}: ip(7), ipv6(7). */
public final class SocketAddress {
    /** Room for either. */
    public static final int MAX_LENGTH = 28;
    /** IPv4. */
    public static final int AF_INET = 2;
    /** IPv6. */
    public static final int AF_INET6 = 10;

    private static final int LENGTH_4 = 16;
    private static final int LENGTH_6 = 28;
    private static final int PORT = 2;
    private static final int ADDRESS_4 = 4;
    private static final int ADDRESS_6 = 8;
    private static final int SCOPE_6 = 24;
    private static final long IPV4_MAPPED = 0x0000_ffff_0000_0000L;

    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddress() {}

    public static int family(Gid address) {
        return address.isIpv4() ? AF_INET : AF_INET6;
    }

    /**
     * Writes an address.
     *
     * @param interfaceIndex of the interface that an address of the link belongs to
     * @return its bytes
     */
    public static int write(MemorySegment to, Gid address, int port, int interfaceIndex) {
        to.set(U16, PORT, (short) port);
        if (address.isIpv4()) {
            to.set(JAVA_SHORT, 0, (short) AF_INET);
            to.set(U32, ADDRESS_4, (int) address.low());
            return LENGTH_4;
        }
        to.set(JAVA_SHORT, 0, (short) AF_INET6);
        to.set(JAVA_INT, 4, 0);
        to.set(U64, ADDRESS_6, address.high());
        to.set(U64, ADDRESS_6 + 8, address.low());
        to.set(JAVA_INT, SCOPE_6, LinkScope.holds(address) ? interfaceIndex : 0);
        return LENGTH_6;
    }

    /** Writes an address and a port. {@return its bytes} */
    public static int write(MemorySegment to, InetSocketAddress address) {
        int scope = address.getAddress() instanceof Inet6Address ofLink ? ofLink.getScopeId() : 0;
        return write(to, Gid.of(address.getAddress()), address.getPort(), scope);
    }

    /** {@return an address and a port} */
    static InetSocketAddress read(MemorySegment from) {
        boolean isIpv4 = from.get(JAVA_SHORT, 0) == AF_INET;
        byte[] bytes = new byte[isIpv4 ? 4 : 16];
        MemorySegment.copy(from, JAVA_BYTE, isIpv4 ? ADDRESS_4 : ADDRESS_6, bytes, 0,
                bytes.length);
        try {
            InetAddress address = InetAddress.getByAddress(bytes);
            int scope = isIpv4 ? 0 : from.get(JAVA_INT, SCOPE_6);
            return new InetSocketAddress(
                    scope == 0 ? address : Inet6Address.getByAddress(null, bytes, scope),
                    port(from));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    public static int port(MemorySegment from) {
        return Short.toUnsignedInt(from.get(U16, PORT));
    }

    /** {@return bytes 0 to 7 of the GID of an address} */
    public static long high(MemorySegment from) {
        return from.get(JAVA_SHORT, 0) == AF_INET ? 0 : from.get(U64, ADDRESS_6);
    }

    /** {@return bytes 8 to 15 of the GID of an address} */
    public static long low(MemorySegment from) {
        return from.get(JAVA_SHORT, 0) == AF_INET
                ? IPV4_MAPPED | Integer.toUnsignedLong(from.get(U32, ADDRESS_4))
                : from.get(U64, ADDRESS_6 + 8);
    }
}
