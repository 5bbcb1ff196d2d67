// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The 40 bytes before a received datagram, with its source: the IPv6 header, or 20 unused bytes and the IPv4
 * header.
 *
 * <p>A user-space receiver never sees the header itself, but knows the fields that the verbs guarantee:
 * version, lengths, protocol and both addresses. Source: IBTA annex A17.4.5.1, RFC 791, RFC 8200.
 */
public final class GlobalRouteHeader {
    /** Its bytes. */
    public static final int LENGTH = AddressHandle.GLOBAL_ROUTE_LENGTH;

    private static final int IPV4_START = 20;
    private static final int UDP = 17;
    private static final int UDP_HEADER = 8;
    private static final int HOP_LIMIT = 64;

    /** The source and destination of a datagram in its header. */
    public record Addresses(Gid source, Gid destination, int trafficClass, int flowLabel) {}

    private GlobalRouteHeader() {}

    /**
     * Writes the header of a packet.
     *
     * @param target {@link #LENGTH} bytes from its start
     */
    public static void write(PacketView packet, MemorySegment target) {
        Gid source = packet.source();
        Gid destination = packet.destination();
        int udpLength = UDP_HEADER + packet.length();
        target.fill((byte) 0);
        if (destination.isIpv4()) {
            target.set(Layouts.U16, IPV4_START, (short) 0x4500);
            target.set(Layouts.U16, IPV4_START + 2, (short) (20 + udpLength));
            target.set(Layouts.U16, IPV4_START + 6, (short) 0x4000);
            target.set(Layouts.U16, IPV4_START + 8, (short) (HOP_LIMIT << 8 | UDP));
            target.set(Layouts.U32, IPV4_START + 12, (int) source.low());
            target.set(Layouts.U32, IPV4_START + 16, (int) destination.low());
            target.set(Layouts.U16, IPV4_START + 10, (short) ~sum(target));
        } else {
            target.set(Layouts.U32, 0, 0x6000_0000);
            target.set(Layouts.U16, 4, (short) udpLength);
            target.set(Layouts.U16, 6, (short) (UDP << 8 | HOP_LIMIT));
            target.set(Layouts.U64, 8, source.high());
            target.set(Layouts.U64, 16, source.low());
            target.set(Layouts.U64, 24, destination.high());
            target.set(Layouts.U64, 32, destination.low());
        }
    }

    /** {@return the addresses in a header, or null if it is invalid} */
    public static @Nullable Addresses read(MemorySegment header) {
        if (header.byteSize() < LENGTH) {
            return null;
        }
        // An IPv4 header shows itself by its checksum: an IPv6 address could hold its first bytes.
        if (header.get(Layouts.U8, IPV4_START) == 0x45 && sum(header) == 0xffff) {
            return new Addresses(ipv4(header, 12), ipv4(header, 16),
                    header.get(Layouts.U8, IPV4_START + 1) & 0xff, 0);
        }
        int first = header.get(Layouts.U32, 0);
        if (first >>> 28 != 6) {
            return null;
        }
        return new Addresses(ipv6(header, 8), ipv6(header, 24), first >>> 20 & 0xff,
                first & 0xf_ffff);
    }

    private static Gid ipv4(MemorySegment header, int offset) {
        return new Gid(0, 0xffff_0000_0000L
                | (header.get(Layouts.U32, IPV4_START + offset) & 0xffff_ffffL));
    }

    private static Gid ipv6(MemorySegment header, int offset) {
        return new Gid(header.get(Layouts.U64, offset), header.get(Layouts.U64, offset + 8));
    }

    /** {@return the one's complement sum of the IPv4 header} RFC 1071. */
    private static int sum(MemorySegment header) {
        int sum = 0;
        for (int i = IPV4_START; i < LENGTH; i += 2) {
            sum += header.get(Layouts.U16, i) & 0xffff;
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }
}
