// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC of units, over the bytes of a buffer that is always the same or changes seldom. Reusable, not thread safe; allocates
 * only when the buffer changes. Source: RFC 5044 4.4.
 */
public final class Crc32c {
    private final CRC32C crc = new CRC32C();
    private MemorySegment memory = MemorySegment.NULL;
    private ByteBuffer bytes = memory.asByteBuffer();

    /** Creates one. */
    public Crc32c() {}

    /**
     * {@return the CRC as a number; on the wire the least significant byte comes first}
     *
     * @param buffer less than 2 GiB, as large as it was made
     */
    public int of(MemorySegment buffer, long offset, int length) {
        if (!memory.equals(buffer)) {
            memory = buffer;
            bytes = buffer.asByteBuffer();
        }
        crc.reset();
        crc.update(bytes.limit((int) offset + length).position((int) offset));
        return (int) crc.getValue();
    }
}
