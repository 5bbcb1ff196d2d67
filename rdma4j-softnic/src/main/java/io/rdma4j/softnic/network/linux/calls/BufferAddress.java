// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The addresses of direct buffers, cached for the last few, because the segment needed to find one would be garbage. A stream
 * that is often full sends from two in turn: what is built, and what it did not accept.
 */
public final class BufferAddress {
    static final int KNOWN = 4;

    private final @Nullable ByteBuffer[] known = new ByteBuffer[KNOWN];
    private final long[] starts = new long[KNOWN];
    /** The place of the one that was found first; it is forgotten next. */
    private int oldest;

    /**
     * {@return the address of the next byte of a direct buffer} The caller must keep the buffer reachable while it uses
     * the address.
     */
    @SuppressWarnings("ReferenceEquality") // An equal buffer may have another address.
    public long of(ByteBuffer buffer) {
        for (int i = 0; i < KNOWN; i++) {
            if (known[i] == buffer) {
                return starts[i] + buffer.position();
            }
        }
        long address = MemorySegment.ofBuffer(buffer).address();
        known[oldest] = buffer;
        starts[oldest] = address - buffer.position();
        oldest = (oldest + 1) % KNOWN;
        return address;
    }
}
