// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.regex.Pattern;

/**
 * Addresses with the same first bits.
 *
 * @param first the lowest one; null for every address, of whichever family
 * @param bits how many first bits are the same
 */
record AddressRange(@Nullable InetAddress first, int bits) {
    static final AddressRange ALL = new AddressRange(null, 0);

    /** The JDK takes {@code 10.1} for 10.0.0.1, which nobody means who leaves out the length of a prefix. */
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    /**
     * {@return the range}
     *
     * @param address a literal
     * @param bits a number; null for the address alone
     */
    static AddressRange parse(String address, @Nullable String bits) {
        if (address.equals("*")) {
            if (bits != null) {
                throw new IllegalArgumentException("'*' is every address, without a prefix");
            }
            return ALL;
        }
        InetAddress first = literal(address);
        int width = first.getAddress().length * Byte.SIZE;
        int length = bits == null ? width : RuleNumbers.parse(bits, 0, width, "the prefix");
        return new AddressRange(first, length).requireNothingBehind(address);
    }

    private static InetAddress literal(String address) {
        boolean isPlain = address.contains(":")
                ? !address.contains("%")
                : IPV4.matcher(address).matches();
        if (isPlain) {
            try {
                return InetAddress.ofLiteral(address);
            } catch (IllegalArgumentException e) {
                // Said below.
            }
        }
        throw new IllegalArgumentException("'" + address + "' is no address: rules take 10.1.2.3,"
                + " 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no"
                + " names");
    }

    private AddressRange requireNothingBehind(String address) {
        byte[] bytes = bytes();
        for (int bit = bits; bit < bytes.length * Byte.SIZE; bit++) {
            if ((bytes[bit / Byte.SIZE] & 0x80 >> (bit % Byte.SIZE)) != 0) {
                throw new IllegalArgumentException(address + " has bits behind its prefix: "
                        + cut().getHostAddress() + "/" + bits + " would be right");
            }
        }
        return this;
    }

    private InetAddress cut() {
        byte[] bytes = bytes();
        for (int bit = bits; bit < bytes.length * Byte.SIZE; bit++) {
            bytes[bit / Byte.SIZE] &= (byte) ~(0x80 >> (bit % Byte.SIZE));
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (java.net.UnknownHostException e) {
            throw new IllegalStateException("it has the length of an address", e);
        }
    }

    private byte[] bytes() {
        return first == null ? new byte[0] : first.getAddress();
    }

    boolean contains(InetAddress address) {
        if (first == null) {
            return true;
        }
        if (first instanceof Inet4Address != address instanceof Inet4Address) {
            return false;
        }
        byte[] own = bytes();
        byte[] other = address.getAddress();
        int whole = bits / Byte.SIZE;
        for (int i = 0; i < whole; i++) {
            if (own[i] != other[i]) {
                return false;
            }
        }
        int rest = bits % Byte.SIZE;
        return rest == 0 || ((own[whole] ^ other[whole]) & 0xff) >> (Byte.SIZE - rest) == 0;
    }
}
