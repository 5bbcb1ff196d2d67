// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * By which a side tells its peer, over UDP, the queue pair that takes its datagrams. Everything is in network order. C: {@code struct
 * ds_udp_header}.
 *
 * @param hasData whether a datagram follows, and an answer is wanted. C: {@code RS_OP_DATA}, else {@code RS_OP_CTRL}
 * @param queuePairNumber of its sender, 24 bits
 */
public record Introduction(boolean hasData, int queuePairNumber) {
    /** How long it is at most, in bytes. */
    public static final int MOST_BYTES = 28;

    private static final int TAG = 0x5555_5555;
    private static final int VERSION_4 = 4;
    private static final int LENGTH_4 = 16;
    private static final int VERSION_6 = 6;
    private static final int LENGTH_6 = 28;
    private static final int DATA = 0;
    private static final int CONTROL = 7;
    private static final int NUMBERS = 0xff_ffff;

    /** Writes it with the address of its sender's queue pair, of 4 or 16 bytes. The buffer, in network order, moves on. */
    public void put(ByteBuffer to, byte[] address) {
        boolean isVersion4 = address.length == DatagramHeader.ADDRESS_4;
        to.putInt(TAG).put((byte) (isVersion4 ? VERSION_4 : VERSION_6))
                .put((byte) (hasData ? DATA : CONTROL))
                .put((byte) (isVersion4 ? LENGTH_4 : LENGTH_6)).put((byte) 0)
                .putInt(queuePairNumber & NUMBERS).put(address);
    }

    /**
     * {@return what a peer has sent, null if it is no introduction} The address that it names is left to the source.
     *
     * @param from in network order; it moves on to the datagram behind it
     * @param source from which it came, of 4 or 16 bytes; an introduction is of the same version of IP
     */
    public static @Nullable Introduction read(ByteBuffer from, byte[] source) {
        boolean isVersion4 = source.length == DatagramHeader.ADDRESS_4;
        int expected = isVersion4 ? LENGTH_4 : LENGTH_6;
        if (from.remaining() < expected || from.getInt() != TAG) {
            return null;
        }
        int version = from.get();
        int operation = from.get();
        int length = from.get();
        from.get();
        int number = from.getInt() & NUMBERS;
        boolean isKnown = operation == DATA || operation == CONTROL;
        if (version != (isVersion4 ? VERSION_4 : VERSION_6) || length != expected || !isKnown) {
            return null;
        }
        from.position(from.position() + source.length);
        return new Introduction(operation == DATA, number);
    }
}
