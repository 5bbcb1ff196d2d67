// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What each side tells the other in the private data when they connect. C: {@code struct rs_conn_data}.
 *
 * @param order in which its sender keeps numbers in memory
 * @param credits how many messages its sender can receive before it gives more
 * @param mappings how many mappings of the peer its sender can keep
 * @param slots the array of ranges that the peer writes; its length is in entries; the mappings follow it
 * @param buffer the first half of the receive buffer
 */
public record ConnectionData(ByteOrder order, int credits, int mappings, RemoteRange slots,
        RemoteRange buffer) {
    /** How long it is. Private data may be longer. */
    public static final int BYTES = 40;
    /** How many ranges a side keeps. */
    public static final int SLOTS = 2;

    private static final int VERSION = 1;
    private static final int BIG_ENDIAN = 1;
    private static final int HAS_MAPPINGS = 2;
    /** From here on the number of mappings is a multiple of 256. */
    private static final int SCALED = 0x80;
    static final int MAX_MAPPINGS = (SCALED - 1) << 8;

    /** {@return the number of mappings that can be announced, at least as many as wanted} */
    static int announced(int wanted) {
        if (wanted < 0 || wanted > MAX_MAPPINGS) {
            throw new IllegalArgumentException(
                    "there can be 0 to " + MAX_MAPPINGS + " mappings, not " + wanted);
        }
        return wanted < SCALED ? wanted : (wanted + 0xff) & ~0xff;
    }

    /** {@return the bytes} */
    public byte[] encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES);
        out.put((byte) VERSION);
        int flags = order == ByteOrder.BIG_ENDIAN ? BIG_ENDIAN : 0;
        out.put((byte) (flags | HAS_MAPPINGS));
        out.putShort((short) credits);
        out.position(7);
        int scaled = announced(mappings);
        out.put((byte) (scaled < SCALED ? scaled : SCALED | scaled >> 8));
        put(out, slots);
        put(out, buffer);
        return out.array();
    }

    private static void put(ByteBuffer out, RemoteRange range) {
        out.putLong(range.address()).putInt(range.key()).putInt((int) range.length());
    }

    /**
     * {@return what a peer has sent}
     *
     * @throws RsocketException if it is too short, of another version, or gives nothing
     */
    public static ConnectionData decode(byte[] privateData) throws RsocketException {
        if (privateData.length < BYTES) {
            throw new RsocketException("its connection data has " + privateData.length
                    + " bytes, not " + BYTES + "; it may be no rsocket");
        }
        ByteBuffer in = ByteBuffer.wrap(privateData);
        int version = in.get() & 0xff;
        if (version != VERSION) {
            throw new RsocketException("its version is " + version + ", not " + VERSION
                    + "; it may be no rsocket");
        }
        int flags = in.get();
        int credits = in.getShort() & 0xffff;
        in.position(7);
        int scaled = in.get() & 0xff;
        boolean hasMappings = (flags & HAS_MAPPINGS) != 0;
        int mappings = scaled < SCALED ? scaled : (scaled & ~SCALED) << 8;
        RemoteRange slots = range(in);
        RemoteRange buffer = range(in);
        if (credits == 0 || slots.length() == 0) {
            throw new RsocketException("it gives " + credits + " credits and " + slots.length()
                    + " slots for buffers; both must be above 0");
        }
        return new ConnectionData(
                (flags & BIG_ENDIAN) == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN,
                credits, hasMappings ? mappings : 0, slots, buffer);
    }

    private static RemoteRange range(ByteBuffer in) {
        return new RemoteRange(in.getLong(), in.getInt(), in.getInt() & 0xffff_ffffL);
    }
}
