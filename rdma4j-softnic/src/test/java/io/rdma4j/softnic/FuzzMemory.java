// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Memory of which regions and buffers are cut with guard bytes before and behind each, and which knows what must
 * not change.
 *
 * <p>One memory for all inputs: it is filled anew for each.
 */
final class FuzzMemory {
    private static final int SIZE = 1 << 16;
    private static final int GUARD = 128;
    private static final MemorySegment ALL = Arena.global().allocate(SIZE, 4096);
    private static final MemorySegment PATTERN = pattern();

    private record Kept(String name, long offset, MemorySegment expected) {}

    private final List<Kept> kept = new ArrayList<>();
    private long end;
    private long guardStart;

    FuzzMemory() {
        ALL.copyFrom(PATTERN);
    }

    private static MemorySegment pattern() {
        byte[] bytes = new byte[SIZE];
        new Random(7).nextBytes(bytes);
        return MemorySegment.ofArray(bytes);
    }

    /** {@return a stretch that may change; up to the next stretch nothing else may} */
    MemorySegment cut(long size) {
        guardStart(end);
        long at = end + GUARD;
        end = (at + size + 7) & ~7;
        guardStart = at + size;
        if (end + GUARD > SIZE) {
            throw new IllegalStateException("the memory is too small for this world");
        }
        return ALL.asSlice(at, size);
    }

    /** {@return a range that must not change} */
    MemorySegment cutFixed(String name, long size) {
        MemorySegment stretch = cut(size);
        keep(name, stretch);
        return stretch;
    }

    /** From now on this must not change. */
    void keep(String name, MemorySegment stretch) {
        kept.add(new Kept(name, stretch.address() - ALL.address(),
                MemorySegment.ofArray(new byte[(int) stretch.byteSize()]).copyFrom(stretch)));
    }

    private void guardStart(long upTo) {
        long size = upTo + GUARD - guardStart;
        kept.add(new Kept("guard", guardStart,
                MemorySegment.ofArray(new byte[(int) size])
                        .copyFrom(PATTERN.asSlice(guardStart, size))));
    }

    void check() {
        guardStart(SIZE - GUARD);
        for (Kept stretch : kept) {
            long differs = ALL.asSlice(stretch.offset, stretch.expected.byteSize())
                    .mismatch(stretch.expected);
            if (differs >= 0) {
                throw new AssertionError("byte " + differs + " of " + stretch.name + " at "
                        + stretch.offset + " was changed");
            }
        }
    }
}
