package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;

/** Inline data of a request that is gathered piece by piece; used again, without garbage where its length stays the same. */
final class InlineData {
    private final MemorySegment buffer;
    private MemorySegment gathered;
    private int length;

    /** @param capacity bytes of inline data that a request may have */
    InlineData(int capacity) {
        buffer = MemorySegment.ofArray(new byte[capacity]);
        gathered = buffer;
    }

    /** Begins anew. */
    void clear() {
        length = 0;
    }

    /** {@return how many bytes it would have with a piece} */
    long lengthWith(MemorySegment piece) {
        return length + piece.byteSize();
    }

    /** Adds a piece that fits. */
    void add(MemorySegment piece) {
        MemorySegment.copy(piece, 0, buffer, length, piece.byteSize());
        length += (int) piece.byteSize();
    }

    /** Gives a request what was gathered. */
    void giveTo(SendWorkRequest request) {
        if (gathered.byteSize() != length) {
            gathered = buffer.asSlice(0, length);
        }
        request.inline(gathered);
    }
}
