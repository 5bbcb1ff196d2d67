// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A datagram that finds out which process has a place in the group of sockets that share a port: the steering program
 * directs it to the place that it names, and the receiver writes its prefix into the shared table. A nonce that only readers
 * of the table know keeps other senders out. No RoCE device processes it as a packet, because its opcode is reserved.
 */
public final class ReuseportProbe {
    /** Its first bytes: opcode 0xff and three more. */
    static final int MAGIC = 0xff72_3470;
    /** The offset of the place, one byte. */
    static final int PLACE = 4;
    static final int LENGTH = 16;
    private static final int NONCE = 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private ReuseportProbe() {}

    static void write(MemorySegment probe, int place, long nonce) {
        probe.fill((byte) 0);
        probe.set(INT, 0, MAGIC);
        probe.set(ValueLayout.JAVA_BYTE, PLACE, (byte) place);
        probe.set(LONG, NONCE, nonce);
    }

    public static boolean is(MemorySegment bytes, long at, int length) {
        return length == LENGTH && bytes.get(INT, at) == MAGIC;
    }

    public static int place(MemorySegment bytes, long at) {
        return bytes.get(ValueLayout.JAVA_BYTE, at + PLACE) & 0xff;
    }

    public static long nonce(MemorySegment bytes, long at) {
        return bytes.get(LONG, at + NONCE);
    }
}
