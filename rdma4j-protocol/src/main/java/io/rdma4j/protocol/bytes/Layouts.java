// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.bytes;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Values as they stand on the wire: big endian, at any address. */
public final class Layouts {
    /** One byte. */
    public static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    /** Two bytes. */
    public static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    /** Four bytes. */
    public static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    /** Eight bytes. */
    public static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    /** Four bytes, least significant first: a CRC. */
    public static final ValueLayout.OfInt U32_LITTLE = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private Layouts() {}
}
