// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import org.jspecify.annotations.Nullable;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes a {@link Host} of the messages in which Linux describes its interfaces and their addresses. Source: rtnetlink(7),
 * {@code linux/if_link.h}, {@code linux/if_addr.h}. Numbers are in the byte order of the machine.
 */
final class RouteMessages {
    /** struct ifinfomsg: family, pad, type, index, flags, change. */
    private static final int LINK_HEADER = 16;
    private static final int LINK_INDEX = 4;
    private static final int LINK_FLAGS = 8;
    private static final int IFLA_IFNAME = 3;
    private static final int IFLA_MTU = 4;
    private static final int IFF_UP = 0x1;
    private static final int IFF_LOOPBACK = 0x8;
    private static final int IFF_RUNNING = 0x40;

    /** struct ifaddrmsg: family, length of the prefix, flags, scope, index. */
    private static final int ADDRESS_HEADER = 8;
    private static final int ADDRESS_FLAGS = 2;
    private static final int ADDRESS_INDEX = 4;
    private static final int IFA_ADDRESS = 1;
    private static final int IFA_LOCAL = 2;
    private static final int IFA_CACHEINFO = 6;
    private static final int IFA_FLAGS = 8;
    /** struct ifa_cacheinfo: preferred, valid, created, updated; times in hundredths of a second. */
    private static final int CREATED = 8;

    /** struct rtattr: length, type. */
    private static final int ATTRIBUTE_HEADER = 4;
    private static final int ALIGNMENT = 4;

    private record Link(String name, int flags, int mtu) {}

    private record Address(int created, HostAddress address) {
        boolean isIpv6() {
            return address.address() instanceof Inet6Address;
        }
    }

    private final Map<Integer, Link> links = new TreeMap<>();
    private final Map<Integer, List<Address>> addresses = new TreeMap<>();

    /** An attribute of a message. */
    private interface Attribute {
        void is(int type, ByteBuffer value);
    }

    /** @param message the body of a RTM_NEWLINK message, its limit at the end */
    void onLink(ByteBuffer message) {
        if (message.remaining() < LINK_HEADER) {
            return;
        }
        int start = message.position();
        int index = message.getInt(start + LINK_INDEX);
        int flags = message.getInt(start + LINK_FLAGS);
        String[] name = {""};
        int[] mtu = {0};
        attributes(message, LINK_HEADER, (type, value) -> {
            switch (type) {
                case IFLA_IFNAME -> name[0] = text(value);
                case IFLA_MTU -> mtu[0] = number(value, 0);
                default -> {
                    // Not needed.
                }
            }
        });
        links.put(index, new Link(name[0], flags, mtu[0]));
    }

    /** @param message the body of a RTM_NEWADDR message, its limit at the end */
    void onAddress(ByteBuffer message) {
        if (message.remaining() < ADDRESS_HEADER) {
            return;
        }
        int start = message.position();
        int index = message.getInt(start + ADDRESS_INDEX);
        int[] flags = {Byte.toUnsignedInt(message.get(start + ADDRESS_FLAGS))};
        int[] created = {0};
        byte[][] found = new byte[2][];
        attributes(message, ADDRESS_HEADER, (type, value) -> {
            switch (type) {
                // Of a point-to-point link the first is the peer's, and the second this machine's.
                case IFA_ADDRESS -> found[0] = bytes(value);
                case IFA_LOCAL -> found[1] = bytes(value);
                case IFA_CACHEINFO -> created[0] = number(value, CREATED);
                case IFA_FLAGS -> flags[0] = number(value, 0);
                default -> {
                    // Not needed.
                }
            }
        });
        InetAddress address = address(found[1] == null ? found[0] : found[1], index);
        if (address != null) {
            addresses.computeIfAbsent(index, _ -> new ArrayList<>()).add(new Address(created[0],
                    new HostAddress(address, new AddressFlags(flags[0]).state())));
        }
    }

    private static void attributes(ByteBuffer message, int from, Attribute attribute) {
        int at = message.position() + from;
        while (message.limit() - at >= ATTRIBUTE_HEADER) {
            int length = Short.toUnsignedInt(message.getShort(at));
            if (length < ATTRIBUTE_HEADER || length > message.limit() - at) {
                return;
            }
            int type = Short.toUnsignedInt(message.getShort(at + 2));
            attribute.is(type, message
                    .slice(at + ATTRIBUTE_HEADER, length - ATTRIBUTE_HEADER)
                    .order(message.order()));
            at += (length + ALIGNMENT - 1) & -ALIGNMENT;
        }
    }

    private static int number(ByteBuffer value, int at) {
        return value.limit() < at + Integer.BYTES ? 0 : value.getInt(at);
    }

    private static byte[] bytes(ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        return bytes;
    }

    /** {@return the text before the zero that ends it} */
    private static String text(ByteBuffer value) {
        byte[] bytes = bytes(value);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private static @Nullable InetAddress address(byte @Nullable [] bytes, int index) {
        if (bytes == null || (bytes.length != 4 && bytes.length != 16)) {
            return null;
        }
        try {
            InetAddress address = InetAddress.getByAddress(bytes);
            return address instanceof Inet6Address && address.isLinkLocalAddress()
                    ? Inet6Address.getByAddress(null, bytes, index)
                    : address;
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * {@return what the messages have described} Addresses are in the order in which they came. Linux lists secondary IPv4
     * addresses last, and IPv6 addresses from the first or from the last, depending on its version: the time of their
     * creation decides, and of those that were created in the same hundredth of a second the direction of the others.
     */
    Host host() {
        List<HostInterface> interfaces = new ArrayList<>();
        links.forEach((index, link) -> {
            List<HostAddress> sorted = listed(addresses.getOrDefault(index, List.of())).stream()
                    .sorted(Comparator.comparingInt(Address::created)).map(Address::address)
                    .toList();
            interfaces.add(new HostInterface(link.name, index, (link.flags & IFF_UP) != 0,
                    (link.flags & IFF_RUNNING) != 0, (link.flags & IFF_LOOPBACK) != 0, link.mtu,
                    sorted));
        });
        return new Host(interfaces);
    }

    /** {@return the addresses of an interface, those of IPv6 turned round if the last that came is listed first} */
    private static List<Address> listed(List<Address> addresses) {
        List<Address> ordered = new ArrayList<>(
                addresses.stream().filter(each -> !each.isIpv6()).toList());
        List<Address> ipv6 = addresses.stream().filter(Address::isIpv6).toList();
        boolean isTurned = !ipv6.isEmpty()
                && ipv6.getFirst().created > ipv6.getLast().created;
        ordered.addAll(isTurned ? ipv6.reversed() : ipv6);
        return ordered;
    }
}
