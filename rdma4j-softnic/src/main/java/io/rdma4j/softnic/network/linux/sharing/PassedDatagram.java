// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A datagram that a process has received and passes on to another place of the same group, behind a header that names the
 * place, as a {@link ReuseportProbe} does, and the source address of the datagram. A key that only readers of the table know
 * keeps other senders out.
 */
public final class PassedDatagram {
    private static final int KEY = 8;
    private static final int SOURCE = 16;
    /** What precedes the datagram. */
    public static final int HEADER_LENGTH = 32;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private PassedDatagram() {}

    /** Writes the header. */
    static void write(MemorySegment header, int place, long key, Gid source) {
        header.asSlice(0, HEADER_LENGTH).fill((byte) 0);
        header.set(INT, 0, ReuseportProbe.MAGIC);
        header.set(ValueLayout.JAVA_BYTE, ReuseportProbe.PLACE, (byte) place);
        header.set(LONG, KEY, key);
        header.set(LONG, SOURCE, source.high());
        header.set(LONG, SOURCE + 8, source.low());
    }

    public static boolean is(MemorySegment bytes, long at, int length) {
        return length > HEADER_LENGTH && bytes.get(INT, at) == ReuseportProbe.MAGIC;
    }

    public static long key(MemorySegment bytes, long at) {
        return bytes.get(LONG, at + KEY);
    }

    /** {@return the address that the datagram came from} */
    public static Gid source(MemorySegment bytes, long at) {
        return new Gid(bytes.get(LONG, at + SOURCE), bytes.get(LONG, at + SOURCE + 8));
    }
}
