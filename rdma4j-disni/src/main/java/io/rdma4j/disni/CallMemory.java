// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * The memory in which DiSNI passes structures of C, by its addresses. It is DiSNI's, from a pool, neither aligned nor cleared: only
 * what a structure says may be read.
 */
final class CallMemory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /** {@code struct sockaddr_in}: family, port and address, which are big-endian, and zeros. */
    static final int ADDRESS_BYTES = 16;
    private static final int PORT = 2;
    private static final int ADDRESS = 4;
    private static final short INET = 2;
    private static final ValueLayout.OfShort NETWORK_SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private CallMemory() {}

    static long readLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    static int readInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    static void writeLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    static void writeInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    static void writeShort(long address, int value) {
        ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, (short) value);
    }

    /** Copies bytes of the process to a segment. */
    static void copy(long address, MemorySegment target, long offset, long length) {
        MemorySegment.copy(ALL, address, target, offset, length);
    }

    /** {@return memory that belongs to the program, as long as it says} */
    static MemorySegment segment(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    static byte[] bytes(long address, int length) {
        return segment(address, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** {@return a {@code sockaddr_in}} Its family is not looked at: DiSNI writes no other. */
    static InetSocketAddress readAddress(long address) {
        int port = Short.toUnsignedInt(ALL.get(NETWORK_SHORT, address + PORT));
        try {
            InetAddress host = InetAddress
                    .getByAddress(bytes(address + ADDRESS, Integer.BYTES));
            return new InetSocketAddress(host, port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** Writes a {@code sockaddr_in}. An address of IPv6 has no place in it, and is written as none. */
    static void writeAddress(long address, InetSocketAddress value) {
        writeNoAddress(address);
        if (value.getAddress() instanceof Inet4Address host) {
            ALL.set(NETWORK_SHORT, address + PORT, (short) value.getPort());
            MemorySegment.copy(host.getAddress(), 0, ALL, ValueLayout.JAVA_BYTE,
                    address + ADDRESS, Integer.BYTES);
        }
    }

    static void writeNoAddress(long address) {
        ALL.asSlice(address, ADDRESS_BYTES).fill((byte) 0);
        writeShort(address, INET);
    }
}
