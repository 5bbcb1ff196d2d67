// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * By which a side tells its peer, over UDP, the queue pair that takes its datagrams. Everything is in network order. C: {@code struct
 * ds_udp_header}.
 *
 * @param hasData whether a datagram follows, and an answer is wanted. C: {@code RS_OP_DATA}, else {@code RS_OP_CTRL}
 * @param queuePairNumber of its sender, 24 bits
 * @param address of that queue pair
 */
public record Introduction(boolean hasData, int queuePairNumber, InetAddress address) {
    /** How long it is at most, in bytes. */
    public static final int MOST_BYTES = 28;

    private static final int TAG = 0x5555_5555;
    private static final int VERSION_4 = 4;
    private static final int LENGTH_4 = 16;
    private static final int ADDRESS_4 = 4;
    private static final int VERSION_6 = 6;
    private static final int LENGTH_6 = 28;
    private static final int ADDRESS_6 = 16;
    private static final int DATA = 0;
    private static final int CONTROL = 7;
    private static final int NUMBERS = 0xff_ffff;

    /** Writes it. The buffer, in network order, moves on. */
    public void put(ByteBuffer to) {
        boolean isVersion4 = address instanceof Inet4Address;
        to.putInt(TAG).put((byte) (isVersion4 ? VERSION_4 : VERSION_6))
                .put((byte) (hasData ? DATA : CONTROL))
                .put((byte) (isVersion4 ? LENGTH_4 : LENGTH_6)).put((byte) 0)
                .putInt(queuePairNumber & NUMBERS).put(address.getAddress());
    }

    /**
     * {@return what a peer has sent, null if it is no introduction}
     *
     * @param from in network order; it moves on to the datagram behind it
     * @param source whose IP version it has to have
     */
    public static @Nullable Introduction read(ByteBuffer from, InetAddress source) {
        boolean isVersion4 = source instanceof Inet4Address;
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
        return new Introduction(operation == DATA, number,
                DatagramHeader.address(from, isVersion4 ? ADDRESS_4 : ADDRESS_6));
    }
}
