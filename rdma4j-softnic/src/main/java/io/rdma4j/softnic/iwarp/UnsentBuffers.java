package io.rdma4j.softnic.iwarp;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Memory for bytes that the network does not take at once. Connections give their buffers back as soon as these are empty, and a
 * few are kept for the next, because direct memory is returned to the system only by the garbage collector. For the engine's
 * owner.
 */
class UnsentBuffers {
    static final int MOST_SPARE = 4;
    /** A frame of a set-up, or a Terminate. */
    private static final int SHORT = 4096;

    private final int length;
    private final Deque<ByteBuffer> spare = new ArrayDeque<>();

    /** @param length the bytes of a usual buffer */
    UnsentBuffers(int length) {
        this.length = length;
    }

    /** {@return a buffer of at least so many bytes, null if the process has no memory for it} */
    @Nullable
    ByteBuffer take(int atLeast) {
        if (atLeast <= SHORT) {
            return ByteBuffer.allocate(atLeast);
        }
        ByteBuffer kept = atLeast <= length ? spare.poll() : null;
        if (kept != null) {
            return kept.clear();
        }
        try {
            // Of the kind that a system call takes as it is.
            return ByteBuffer.allocateDirect(Math.max(atLeast, length));
        } catch (OutOfMemoryError none) {
            return null;
        }
    }

    /** Takes a buffer back. */
    void give(ByteBuffer buffer) {
        if (buffer.isDirect() && buffer.capacity() == length && spare.size() < MOST_SPARE) {
            spare.push(buffer);
        }
    }

    /** {@return how many buffers are kept for the next} */
    int spareCount() {
        return spare.size();
    }
}
