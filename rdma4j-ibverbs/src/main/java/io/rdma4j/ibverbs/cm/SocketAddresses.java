// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemLayout.SocketAddress;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/** IP addresses with ports, as C has them. */
final class SocketAddresses {
    static final int IPV4 = 2;
    static final int IPV6 = 10;
    /** Of {@code struct sockaddr_in}. */
    private static final int IPV4_LENGTH = 16;

    private SocketAddresses() {}

    /**
     * {@return a {@code struct sockaddr_in} or {@code sockaddr_in6}}
     *
     * @param scope the interface an address of the link belongs to, 0 if it is not known
     */
    static MemorySegment allocate(Arena arena, InetSocketAddress address, int scope) {
        MemorySegment out = arena.allocate(SocketAddress.SIZE, Long.BYTES);
        int port = address.getPort();
        Native.putByte(out, SocketAddress.PORT, port >>> Byte.SIZE);
        Native.putByte(out, SocketAddress.PORT + 1, port);
        byte[] bytes = address.getAddress().getAddress();
        boolean isIpv4 = address.getAddress() instanceof Inet4Address;
        Native.putShort(out, SocketAddress.FAMILY, isIpv4 ? IPV4 : IPV6);
        MemorySegment.copy(bytes, 0, out, JAVA_BYTE,
                isIpv4 ? SocketAddress.IPV4 : SocketAddress.IPV6, bytes.length);
        if (!isIpv4 && address.getAddress().isLinkLocalAddress()) {
            Native.putInt(out, SocketAddress.SCOPE, scope);
        }
        return out;
    }

    /** {@return how long a structure is, by its family} */
    static int length(MemorySegment address) {
        return Native.getShort(address, SocketAddress.FAMILY) == IPV4 ? IPV4_LENGTH
                : (int) SocketAddress.SIZE;
    }

    /** {@return the index of the interface of a local link-local address, 0 if there is none} */
    static int scope(InetAddress local) {
        if (!(local instanceof Inet6Address own) || !local.isLinkLocalAddress()) {
            return 0;
        }
        if (own.getScopeId() != 0) {
            return own.getScopeId();
        }
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(local);
            return found == null ? 0 : found.getIndex();
        } catch (SocketException e) {
            return 0;
        }
    }

    /**
     * {@return the address at an offset of a structure; IPv6 without a scope}
     *
     * @throws RdmaException EIO if there is none
     */
    static InetSocketAddress read(MemorySegment in, long at) throws RdmaException {
        int family = Native.getShort(in, at + SocketAddress.FAMILY);
        if (family != IPV4 && family != IPV6) {
            throw NativeId.nonsense("read address",
                    "family " + family + " is neither IPv4 nor IPv6");
        }
        byte[] bytes = family == IPV4
                ? in.asSlice(at + SocketAddress.IPV4, 4).toArray(JAVA_BYTE)
                : in.asSlice(at + SocketAddress.IPV6, 16).toArray(JAVA_BYTE);
        int port = Native.getByte(in, at + SocketAddress.PORT) << Byte.SIZE
                | Native.getByte(in, at + SocketAddress.PORT + 1);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 and 16 bytes are addresses", e);
        }
    }
}
