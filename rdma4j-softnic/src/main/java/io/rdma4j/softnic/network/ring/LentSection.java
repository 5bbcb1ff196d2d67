// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A section of the pages that another process lends. For the owner of the engine. */
public final class LentSection {
    /** The bytes of a section; no payload that is lent reaches into two. */
    public static final long LENGTH = 1L << 28;
    private static final int SHIFT = 28;
    /** No pages are so long, nor will they be. */
    private static final long END_OF_PLACES = 1L << 46;

    private final MemorySegment memory;
    private boolean isUsed;

    /** @param memory {@link #LENGTH} bytes that can be read, until it is unmapped */
    public LentSection(MemorySegment memory) {
        this.memory = memory;
    }

    /** {@return a section of which nothing can be read any more} It is as long as a payload, and not as a section. */
    public static LentSection gone() {
        try (Arena closed = Arena.ofConfined()) {
            return new LentSection(closed.allocate(RingLayout.MAX_LENT));
        }
    }

    /** {@return the number of the section of a place} */
    public static long number(long place) {
        return place >>> SHIFT;
    }

    /** {@return where a place is in its section} */
    private static long offset(long place) {
        return place & LENGTH - 1;
    }

    /** {@return where a payload is in the memory of this section} */
    long start(long place) {
        return isAlive() ? offset(place) : 0;
    }

    /** {@return whether a payload can be lent or borrowed: it is in one section} */
    static boolean isInOne(long place, int length) {
        return place >= 0 && place < END_OF_PLACES && offset(place) + length <= LENGTH;
    }

    /** {@return whether it is mapped} */
    boolean isAlive() {
        return memory.scope().isAlive();
    }

    /** {@return its memory, to be read from now} */
    MemorySegment use() {
        isUsed = true;
        return memory;
    }

    /** {@return whether it was used since this was called last} */
    public boolean takeUsed() {
        boolean wasUsed = isUsed;
        isUsed = false;
        return wasUsed;
    }
}
