// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.util;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * Takes the place of DiSNI's class of this name, which takes the first four bytes of an IPv6 address for one of IPv4.
 *
 * <p>An address as a number has its first byte lowest when it is made of an {@link InetAddress}, and highest when one is made of it:
 * so DiSNI's other classes have it.
 */
public class NetUtils {
    private static final boolean IS_NETWORK_ORDER = ByteOrder
            .nativeOrder() == ByteOrder.BIG_ENDIAN;

    private NetUtils() {}

    public static int getIntIPFromName(String name) throws UnknownHostException {
        return getIntIPFromInetAddress(InetAddress.getByName(name));
    }

    /** @throws UnknownHostException without an address, and for one of IPv6 */
    public static int getIntIPFromInetAddress(InetAddress address) throws UnknownHostException {
        if (address == null) {
            throw new UnknownHostException("there is no address: its name was not resolved");
        }
        if (!(address instanceof Inet4Address)) {
            throw new UnknownHostException("DiSNI has addresses of IPv4 alone, not "
                    + address.getHostAddress() + ": name the host by its IPv4 address");
        }
        byte[] bytes = address.getAddress();
        return Byte.toUnsignedInt(bytes[0]) | Byte.toUnsignedInt(bytes[1]) << 8
                | Byte.toUnsignedInt(bytes[2]) << 16 | Byte.toUnsignedInt(bytes[3]) << 24;
    }

    /** {@return 0, whatever the name} */
    public static int getIntIPFromInetAddress(String name) {
        return 0;
    }

    public static InetAddress getInetAddressFromIntIP(int address) throws UnknownHostException {
        return InetAddress.getByAddress(new byte[]{(byte) (address >> 24), (byte) (address >> 16),
            (byte) (address >> 8), (byte) address});
    }

    public static short hostToNetworkByteOrder(short value) {
        return IS_NETWORK_ORDER ? value : Short.reverseBytes(value);
    }

    public static char hostToNetworkByteOrder(char value) {
        return IS_NETWORK_ORDER ? value : Character.reverseBytes(value);
    }

    public static int hostToNetworkByteOrder(int value) {
        return IS_NETWORK_ORDER ? value : Integer.reverseBytes(value);
    }

    public static long hostToNetworkByteOrder(long value) {
        return IS_NETWORK_ORDER ? value : Long.reverseBytes(value);
    }

    public static short networkToHostByteOrder(short value) {
        return hostToNetworkByteOrder(value);
    }

    public static char networkToHostByteOrder(char value) {
        return hostToNetworkByteOrder(value);
    }

    public static int networkToHostByteOrder(int value) {
        return hostToNetworkByteOrder(value);
    }

    public static long networkToHostByteOrder(long value) {
        return hostToNetworkByteOrder(value);
    }
}
