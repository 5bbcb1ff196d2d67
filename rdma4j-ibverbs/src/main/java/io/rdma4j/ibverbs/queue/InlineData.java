// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.memory.MappedMemory;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;

/** The inline data of a request that is gathered piece by piece. Reused, without garbage if the length stays the same. */
public final class InlineData {
    private final MemorySegment buffer;
    private MemorySegment gathered;
    private int length;

    /** @param capacity the maximum number of inline bytes of a request */
    InlineData(int capacity) {
        buffer = MemorySegment.ofArray(new byte[capacity]);
        gathered = buffer;
    }

    /** Begins anew. */
    public void clear() {
        length = 0;
    }

    /** {@return how many bytes it would have with a piece} */
    long lengthWith(MemorySegment piece) {
        return length + piece.byteSize();
    }

    /**
     * Adds a piece that fits.
     *
     * @throws InternalError if it maps a file that is shorter now
     */
    public void add(MemorySegment piece) {
        MappedMemory.copy(piece, 0, buffer, length, piece.byteSize());
        length += (int) piece.byteSize();
    }

    /** Sets the gathered bytes as the inline data of a request. */
    void giveTo(SendWorkRequest request) {
        if (gathered.byteSize() != length) {
            gathered = buffer.asSlice(0, length);
        }
        request.inline(gathered);
    }
}
