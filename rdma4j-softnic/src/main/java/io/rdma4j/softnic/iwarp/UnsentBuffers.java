// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;

/**
 * Memory for bytes that the network does not take at once. Connections give their buffers back as soon as these are empty, and a
 * few are kept for the next, because native memory costs time to get and to free. If many are in use, as peers do not read, connections have to send less at once, so that their buffers are shorter. For the engine's owner.
 */
class UnsentBuffers {
    static final int MOST_SPARE = 4;
    /** With as many long buffers in use, memory is scarce. */
    static final int MOST_LONG = 24;
    /** A frame of a set-up, a Terminate, or the last bytes of a burst. */
    static final int FRAME = 4096;
    private static final int MOST_SPARE_SHORT = 32;

    private final Buffers frames = new Buffers(FRAME, MOST_SPARE_SHORT);
    private final Buffers shortOnes;
    private final Buffers longOnes;
    /** The arenas of those in native memory, in use or kept. Equal buffers may be different ones. */
    private final IdentityHashMap<ByteBuffer, Arena> arenas = new IdentityHashMap<>();
    private int longInUse;
    private boolean isClosed;

    /**
     * @param longLength the bytes that a connection usually sends at once
     * @param shortLength those that it sends at once while memory is scarce
     */
    UnsentBuffers(int longLength, int shortLength) {
        longOnes = new Buffers(longLength, MOST_SPARE);
        shortOnes = new Buffers(shortLength, MOST_SPARE_SHORT);
    }

    /** {@return whether connections should send little at once} */
    boolean isScarce() {
        return longInUse >= MOST_LONG;
    }

    /** {@return a buffer of at least so many bytes, null if the process has no memory for it} */
    @Nullable
    ByteBuffer take(int atLeast) {
        if (isClosed) {
            return null;
        }
        if (atLeast <= frames.length) {
            return frames.take();
        }
        if (isScarce() && atLeast <= shortOnes.length) {
            return shortOnes.take();
        }
        ByteBuffer taken = atLeast <= longOnes.length ? longOnes.take() : allocate(atLeast);
        if (taken != null) {
            longInUse++;
        }
        return taken;
    }

    private @Nullable ByteBuffer allocate(int length) {
        if (length <= FRAME) {
            return ByteBuffer.allocate(length);
        }
        // Of the kind that a system call takes as it is.
        Arena arena = Arena.ofShared();
        try {
            ByteBuffer buffer = arena.allocate(length, 64).asByteBuffer();
            arenas.put(buffer, arena);
            return buffer;
        } catch (OutOfMemoryError none) {
            arena.close();
            return null;
        }
    }

    /** Nobody uses it any more. */
    private void free(ByteBuffer buffer) {
        Arena arena = arenas.remove(buffer);
        if (arena != null) {
            arena.close();
        }
    }

    /** Takes a buffer back. */
    void give(ByteBuffer buffer) {
        if (isClosed || frames.give(buffer) || shortOnes.give(buffer)) {
            return;
        }
        if (longOnes.give(buffer)) {
            longInUse--;
        } else if (buffer.capacity() > longOnes.length) {
            longInUse--;
            free(buffer);
        }
    }

    /** Frees all, also those that were not given back: their connections are over. */
    void close() {
        isClosed = true;
        arenas.values().forEach(Arena::close);
        arenas.clear();
    }

    /** {@return how many long buffers are kept for the next} */
    int spareCount() {
        return longOnes.spare.size();
    }

    /** Buffers of one length, a few of which are kept. */
    private final class Buffers {
        private final int length;
        private final int mostSpare;
        private final Deque<ByteBuffer> spare = new ArrayDeque<>();

        Buffers(int length, int mostSpare) {
            this.length = length;
            this.mostSpare = mostSpare;
        }

        @Nullable
        ByteBuffer take() {
            ByteBuffer kept = spare.poll();
            return kept == null ? allocate(length) : kept.clear();
        }

        /** {@return whether it is one of these} */
        boolean give(ByteBuffer buffer) {
            if (buffer.capacity() != length) {
                return false;
            }
            if (spare.size() < mostSpare) {
                spare.push(buffer);
            } else {
                free(buffer);
            }
            return true;
        }
    }
}
