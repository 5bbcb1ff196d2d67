// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The pieces of memory that the payload of something to be sent consists of. They stay where they are. Reusable. */
public final class PayloadPieces implements PayloadTarget {
    /** A piece. Objects of its own: what is stored into an array of segments is checked each time, as they are of several classes. */
    private static final class Piece {
        private MemorySegment memory = MemorySegment.NULL;
        private long offset;
        private int length;
    }

    private Piece[] pieces = filled(new Piece[4], 0);
    private int count;
    private int length;
    /** The most pieces that a payload has had since {@link #release}. */
    private int held;
    /** Of the last piece, null if it is unknown. */
    private @Nullable Registration registration;

    /** Creates a payload of nothing. */
    public PayloadPieces() {}

    private static Piece[] filled(Piece[] pieces, int from) {
        for (int i = from; i < pieces.length; i++) {
            pieces[i] = new Piece();
        }
        return pieces;
    }

    /** Starts a payload of nothing. */
    public void begin() {
        count = 0;
        length = 0;
    }

    @Override
    public void addPayload(MemorySegment memory, long offset, int byteCount) {
        if (count == pieces.length) {
            pieces = filled(Arrays.copyOf(pieces, 2 * count), count);
        }
        registration = null;
        Piece piece = pieces[count];
        piece.memory = memory;
        piece.offset = offset;
        piece.length = byteCount;
        count++;
        if (count > held) {
            held = count;
        }
        length += byteCount;
    }

    @Override
    public void addPayload(MemoryReference place, int byteCount) {
        addPayload(place.segment(), place.offset(), byteCount);
        registration = place.registration();
    }

    /** Forgets the payload, so that no memory is kept alive by what has left. */
    public void release() {
        begin();
        registration = null;
        while (held > 0) {
            pieces[--held].memory = MemorySegment.NULL;
        }
    }

    /** {@return the number of pieces} */
    public int count() {
        return count;
    }

    /** {@return the bytes of all pieces} */
    public int length() {
        return length;
    }

    /** {@return the zero bytes that make their number a multiple of four} */
    public int padding() {
        return -length & 3;
    }

    /** {@return the memory of a piece} */
    public MemorySegment piece(int index) {
        return pieces[index].memory;
    }

    /** {@return where a piece starts in its memory} */
    public long offset(int index) {
        return pieces[index].offset;
    }

    /** {@return what has allowed the access to the only piece; null if there are several, or it is unknown} */
    public @Nullable Registration registration() {
        return count == 1 ? registration : null;
    }

    /** {@return whether all pieces were copied: false if the memory of one is gone} */
    public boolean copyTo(MemorySegment target, long offset) {
        long at = offset;
        for (int i = 0; i < count; i++) {
            int byteCount = pieces[i].length;
            if (!copyTo(i, 0, target, at, byteCount)) {
                return false;
            }
            at += byteCount;
        }
        return true;
    }

    /**
     * Copies some of a piece.
     *
     * @param from the first byte of the piece to copy
     * @return false if its memory is gone
     */
    public boolean copyTo(int index, long from, MemorySegment target, long offset, int byteCount) {
        try {
            Piece piece = pieces[index];
            ApplicationMemory.copy(piece.memory, piece.offset + from, target, offset, byteCount);
            return true;
        } catch (IllegalStateException | InternalError memoryGone) {
            return false;
        }
    }
}
