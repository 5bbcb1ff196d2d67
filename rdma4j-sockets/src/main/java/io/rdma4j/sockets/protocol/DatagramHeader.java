// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * What is in front of the bytes of each datagram over RDMA: the address of its sender, in network order. C: {@code struct ds_header}.
 */
public final class DatagramHeader {
    /** How long a datagram is at most, with its header. C: {@code RS_SNDLOWAT}. */
    public static final int MOST_DATAGRAM = 2048;

    private static final int VERSION_4 = 4;
    private static final int LENGTH_4 = 8;
    private static final int ADDRESS_4 = 4;
    private static final int VERSION_6 = 6;
    private static final int LENGTH_6 = 24;
    private static final int ADDRESS_6 = 16;

    private DatagramHeader() {}

    /** {@return how long the header is that names an address, in bytes} */
    public static int length(InetAddress address) {
        return address instanceof Inet4Address ? LENGTH_4 : LENGTH_6;
    }

    /** Writes the header of a sender. The buffer, in network order, moves on. */
    public static void put(ByteBuffer to, InetSocketAddress sender) {
        InetAddress address = sender.getAddress();
        boolean isVersion4 = address instanceof Inet4Address;
        to.put((byte) (isVersion4 ? VERSION_4 : VERSION_6)).put((byte) length(address))
                .putShort((short) sender.getPort());
        if (!isVersion4) {
            // The flow.
            to.putInt(0);
        }
        to.put(address.getAddress());
    }

    /**
     * {@return the sender that a header names, null if it is none}
     *
     * @param from in network order, with the whole datagram; it moves on to the bytes behind the header
     */
    public static @Nullable InetSocketAddress read(ByteBuffer from) {
        if (from.remaining() < LENGTH_4) {
            return null;
        }
        int version = from.get();
        int length = from.get();
        int port = from.getShort() & 0xffff;
        if (version == VERSION_4 && length == LENGTH_4) {
            return new InetSocketAddress(address(from, ADDRESS_4), port);
        }
        if (version == VERSION_6 && length == LENGTH_6
                && from.remaining() >= LENGTH_6 - Integer.BYTES) {
            from.getInt();
            return new InetSocketAddress(address(from, ADDRESS_6), port);
        }
        return null;
    }

    static InetAddress address(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }
}
