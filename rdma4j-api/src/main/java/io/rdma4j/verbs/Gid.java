// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;

/**
 * A global identifier: 16 bytes that name a port. On RoCE it is an IPv6 address, or an IPv4 address
 * mapped as {@code ::ffff:a.b.c.d}.
 *
 * <p>C: {@code union} {@index ibv_gid} with {@index raw of union ibv_gid}, {@code global.}{@index subnet_prefix of union ibv_gid} and
 * {@code global.}{@index interface_id of union ibv_gid}. Source: IBTA 4.1.1, RFC 4291 §2.5.5.2.
 *
 * @param high bytes 0 to 7, big endian
 * @param low bytes 8 to 15, big endian
 * @since 0.1.0
 */
public record Gid(long high, long low) {
    /** Sixteen zero bytes: an empty entry of the GID table. */
    public static final Gid ZERO = new Gid(0, 0);

    private static final long IPV4_MAPPED = 0x0000_ffff_0000_0000L;

    // Written out, because the JVM would generate classes for these two when they are first used.

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof Gid gid && gid.high == high && gid.low == low);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(high) + Long.hashCode(low);
    }

    /**
     * {@return the GID of an IPv4 or IPv6 address}
     *
     * @param address of IPv4 or IPv6
     */
    public static Gid of(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 4) {
            return new Gid(0, IPV4_MAPPED | bigEndian(bytes, 0, 4));
        }
        return new Gid(bigEndian(bytes, 0, 8), bigEndian(bytes, 8, 8));
    }

    /**
     * {@return the GID of 16 bytes}
     *
     * @param bytes 16, in network order
     * @throws IllegalArgumentException if there are not exactly 16
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != 16) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        return new Gid(bigEndian(bytes, 0, 8), bigEndian(bytes, 8, 8));
    }

    /**
     * {@return the GID of 32 hexadecimal digits, with or without colons between groups of four, or of an IPv6 address as
     * RFC 5952 writes it} So it reads what {@link #toString} and {@link #addressText} give, and refuses an address with a scope,
     * which a GID does not have.
     *
     * @param text as {@link #toString} or {@link #addressText} writes it
     * @throws IllegalArgumentException if it is neither
     */
    public static Gid parse(String text) {
        String digits = text.replace(":", "");
        if (!digits.matches("[0-9a-fA-F]{32}")) {
            return ofAddressText(text);
        }
        return new Gid(Long.parseUnsignedLong(digits.substring(0, 16), 16),
                Long.parseUnsignedLong(digits.substring(16), 16));
    }

    private static Gid ofAddressText(String text) {
        try {
            // RFC 5952 §4.1: no leading zeros. With them it is the long form, from which digits are missing.
            boolean isLongForm = text.matches("(.*:)?0[0-9a-fA-F].*");
            if (!isLongForm && text.matches("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
                return of(Inet6Address.ofLiteral(text));
            }
        } catch (IllegalArgumentException notAnAddress) {
            // Told below, with what would be right.
        }
        throw new IllegalArgumentException("'" + text + "' is not a GID: 32 hexadecimal digits or"
                + " an IPv6 address are needed, IPv4 as ::ffff:a.b.c.d");
    }

    /** {@return whether this is an IPv4 address in IPv6 form} */
    public boolean isIpv4() {
        return high == 0 && (low >>> 32) == 0xffff;
    }

    /** {@return whether this is the address of a multicast group, of either IP version} */
    public boolean isMulticast() {
        return isIpv4() ? (low >>> 28 & 0xf) == 0xe : high >>> 56 == 0xff;
    }

    /** {@return whether this is an address that never leaves the machine: of {@code 127.0.0.0/8}, or {@code ::1}} */
    public boolean isLoopback() {
        return isIpv4() ? (low >>> 24 & 0xff) == 127 : high == 0 && low == 1;
    }

    /** {@return whether all bytes are zero} */
    public boolean isZero() {
        return high == 0 && low == 0;
    }

    /** {@return whether this is an IPv6 address of the link, {@code fe80::/10}} */
    public boolean isLinkLocal() {
        return (high >>> 54) == (0xfe80L >>> 6);
    }

    /** {@return the IPv4 or IPv6 address; an IPv6 address carries no scope} */
    public InetAddress address() {
        try {
            if (isIpv4()) {
                int v4 = (int) low;
                return Inet4Address.getByAddress(new byte[]{(byte) (v4 >>> 24), (byte) (v4 >>> 16),
                    (byte) (v4 >>> 8), (byte) v4});
            }
            return InetAddress.getByAddress(bytes());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }

    /** {@return the address as text, in the shortest form of RFC 5952; IPv4 as {@code ::ffff:a.b.c.d}} */
    public String addressText() {
        if (isIpv4()) {
            return "::ffff:" + address().getHostAddress();
        }
        int bestStart = -1;
        int bestLength = 1;
        for (int start = 0; start < 8; start++) {
            int length = 0;
            while (start + length < 8 && group(start + length) == 0) {
                length++;
            }
            if (length > bestLength) {
                bestStart = start;
                bestLength = length;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            if (i == bestStart) {
                text.append("::");
                i += bestLength - 1;
            } else {
                text.append(text.isEmpty() || text.toString().endsWith(":") ? "" : ":")
                        .append(Integer.toHexString(group(i)));
            }
        }
        return text.toString();
    }

    private int group(int index) {
        long half = index < 4 ? high : low;
        return (int) (half >>> (48 - 16 * (index & 3))) & 0xffff;
    }

    /** {@return the 16 bytes} */
    public byte[] bytes() {
        byte[] bytes = new byte[16];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (high >>> (56 - 8 * i));
            bytes[8 + i] = (byte) (low >>> (56 - 8 * i));
        }
        return bytes;
    }

    /** {@return eight groups of four digits, as {@code /sys/class/infiniband} shows them} */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < 8; i++) {
            text.append(i == 0 ? "" : ":").append(String.format(Locale.ROOT, "%04x", group(i)));
        }
        return text.toString();
    }

    private static long bigEndian(byte[] bytes, int from, int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | (bytes[from + i] & 0xff);
        }
        return value;
    }
}
