// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The error number of the last call that had it captured. For one thread at a time.
 *
 * <p>The JVM slices the memory that it is captured in, at each call, which is garbage whenever the compiler does not see
 * through. Calls of the hot path are made without, and repeated with it if they fail and the reason matters.
 */
public final class ErrorNumber {
    /** For functions whose error number is captured. */
    static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");

    /** Where it is in {@link Linker.Option#captureStateLayout}, in which Linux has nothing else. */
    static final long ERRNO = 0;

    private final MemorySegment state;

    /** @param arena allocates the memory for it */
    public ErrorNumber(Arena arena) {
        state = arena.allocate(JAVA_INT);
    }

    /** {@return the memory that a call captures it in} */
    MemorySegment state() {
        return state;
    }

    /** {@return the result of a call, or the negated error number} */
    long outcome(long result) {
        return result < 0 ? -state.get(JAVA_INT, ERRNO) : result;
    }
}
