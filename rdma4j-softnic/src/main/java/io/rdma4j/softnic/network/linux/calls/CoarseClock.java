// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The system's time as of its last tick, one to ten milliseconds ago. It is read from memory, in a fifth of the time that {@link System#nanoTime} takes,
 * which asks the processor. For one thread at a time.
 *
 * <p>Source: clock_gettime(2), {@code CLOCK_MONOTONIC_COARSE}.
 */
public final class CoarseClock {
    private static final int CLOCK_MONOTONIC_COARSE = 6;
    private static final long NS_PER_S = 1_000_000_000;
    private static final MethodHandle CLOCK_GETTIME = function();

    /** {@code struct timespec}. */
    private final MemorySegment time = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(),
            JAVA_LONG.byteAlignment());
    private final long address = time.address();

    /** Creates one. */
    public CoarseClock() {}

    private static MethodHandle function() {
        Linker linker = Linker.nativeLinker();
        // It makes no system call and does not wait, so the thread need not leave the JVM's state for it.
        return linker.downcallHandle(
                linker.defaultLookup().find("clock_gettime").orElseThrow(
                        () -> new UnsatisfiedLinkError("the C library has no clock_gettime")),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG),
                Linker.Option.critical(false));
    }

    /** {@return the time of the last tick in nanoseconds, from some origin} */
    public long nowNs() {
        try {
            int _ = (int) CLOCK_GETTIME.invokeExact(CLOCK_MONOTONIC_COARSE, address);
        } catch (Throwable t) {
            throw CFunction.unexpected(t);
        }
        return time.get(JAVA_LONG, 0) * NS_PER_S + time.get(JAVA_LONG, JAVA_LONG.byteSize());
    }
}
