package io.rdma4j.softnic.iwarp;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Memory for bytes that the network does not take at once. Connections give their buffers back as soon as these are empty, and a
 * few are kept for the next, because direct memory is returned to the system only by the garbage collector. If many are in use,
 * as peers do not read, connections have to send less at once, so that their buffers are shorter. For the engine's owner.
 */
class UnsentBuffers {
    static final int MOST_SPARE = 4;
    /** With as many long buffers in use, memory is scarce. */
    static final int MOST_LONG = 24;
    private static final int MOST_SPARE_SHORT = 32;
    /** A frame of a set-up, or a Terminate. */
    private static final int FRAME = 4096;

    private final int longLength;
    private final int shortLength;
    private final Deque<ByteBuffer> spareLong = new ArrayDeque<>();
    private final Deque<ByteBuffer> spareShort = new ArrayDeque<>();
    private int longInUse;

    /**
     * @param longLength the bytes that a connection usually sends at once
     * @param shortLength those that it sends at once while memory is scarce
     */
    UnsentBuffers(int longLength, int shortLength) {
        this.longLength = longLength;
        this.shortLength = shortLength;
    }

    /** {@return whether connections should send little at once} */
    boolean isScarce() {
        return longInUse >= MOST_LONG;
    }

    /** {@return a buffer of at least so many bytes, null if the process has no memory for it} */
    @Nullable
    ByteBuffer take(int atLeast) {
        if (atLeast <= FRAME) {
            return ByteBuffer.allocate(atLeast);
        }
        if (isScarce() && atLeast <= shortLength) {
            return take(spareShort, shortLength);
        }
        ByteBuffer taken = atLeast <= longLength
                ? take(spareLong, longLength)
                : allocate(atLeast);
        if (taken != null) {
            longInUse++;
        }
        return taken;
    }

    private static @Nullable ByteBuffer take(Deque<ByteBuffer> spare, int length) {
        ByteBuffer kept = spare.poll();
        return kept == null ? allocate(length) : kept.clear();
    }

    private static @Nullable ByteBuffer allocate(int length) {
        try {
            // Of the kind that a system call takes as it is.
            return ByteBuffer.allocateDirect(length);
        } catch (OutOfMemoryError none) {
            return null;
        }
    }

    /** Takes a buffer back. */
    void give(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            return;
        }
        if (buffer.capacity() == shortLength) {
            keep(buffer, spareShort, MOST_SPARE_SHORT);
            return;
        }
        longInUse--;
        if (buffer.capacity() == longLength) {
            keep(buffer, spareLong, MOST_SPARE);
        }
    }

    private static void keep(ByteBuffer buffer, Deque<ByteBuffer> spare, int most) {
        if (spare.size() < most) {
            spare.push(buffer);
        }
    }

    /** {@return how many long buffers are kept for the next} */
    int spareCount() {
        return spareLong.size();
    }
}
