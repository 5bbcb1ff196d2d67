// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * What is in front of the bytes of each datagram over RDMA: the address of its sender, in network order. C: {@code struct ds_header}.
 */
public final class DatagramHeader {
    /** How long a datagram is at most, with its header. C: {@code RS_SNDLOWAT}. */
    public static final int MOST_DATAGRAM = 2048;
    /** How long addresses of the two versions of IP are. */
    static final int ADDRESS_4 = 4;
    static final int ADDRESS_6 = 16;

    private static final int VERSION_4 = 4;
    private static final int LENGTH_4 = 8;
    private static final int VERSION_6 = 6;
    private static final int LENGTH_6 = 24;

    private final byte[] address;
    private final int port;

    private DatagramHeader(byte[] address, int port) {
        this.address = address;
        this.port = port;
    }

    /** {@return the address of the sender, of 4 or 16 bytes} The caller must not change them. */
    public byte[] address() {
        return address;
    }

    /** {@return the port of the sender} */
    public int port() {
        return port;
    }

    /** {@return how long the header is that names an address, in bytes} */
    public static int length(byte[] address) {
        return address.length == ADDRESS_4 ? LENGTH_4 : LENGTH_6;
    }

    /** Writes the header of a sender, with an address of 4 or 16 bytes. The buffer, in network order, moves on. */
    public static void put(ByteBuffer to, byte[] address, int port) {
        boolean isVersion4 = address.length == ADDRESS_4;
        to.put((byte) (isVersion4 ? VERSION_4 : VERSION_6)).put((byte) length(address))
                .putShort((short) port);
        if (!isVersion4) {
            // The flow.
            to.putInt(0);
        }
        to.put(address);
    }

    /**
     * {@return the header of a datagram, null if it has none}
     *
     * @param from in network order, with the whole datagram; it moves on to the bytes behind the header
     */
    public static @Nullable DatagramHeader read(ByteBuffer from) {
        if (from.remaining() < LENGTH_4) {
            return null;
        }
        int version = from.get();
        int length = from.get();
        int port = from.getShort() & 0xffff;
        if (version == VERSION_4 && length == LENGTH_4) {
            return new DatagramHeader(address(from, ADDRESS_4), port);
        }
        if (version == VERSION_6 && length == LENGTH_6
                && from.remaining() >= LENGTH_6 - Integer.BYTES) {
            from.getInt();
            return new DatagramHeader(address(from, ADDRESS_6), port);
        }
        return null;
    }

    private static byte[] address(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }
}
