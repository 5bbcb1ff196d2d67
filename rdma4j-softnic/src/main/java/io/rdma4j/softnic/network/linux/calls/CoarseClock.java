// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The system's time as of its last tick, normally at most ten milliseconds ago. It is read from memory, in a fifth of the time that {@link System#nanoTime} takes,
 * which asks the processor. For one thread at a time.
 *
 * <p>Source: clock_gettime(2), {@code CLOCK_MONOTONIC_COARSE}.
 */
public final class CoarseClock {
    private static final int CLOCK_MONOTONIC_COARSE = 6;
    private static final long NS_PER_S = 1_000_000_000;
    private static final MethodHandle CLOCK_GETTIME = function();

    /** {@code struct timespec}. */
    private final long[] time = new long[2];
    private final MemorySegment written = MemorySegment.ofArray(time);

    /** Creates one. */
    public CoarseClock() {}

    private static MethodHandle function() {
        Linker linker = Linker.nativeLinker();
        // It does not wait, and makes no system call where the kernel lends its clock to processes. So the thread stays in the JVM's state, and the function
        // may write to the heap.
        return linker.downcallHandle(
                linker.defaultLookup().find("clock_gettime").orElseThrow(
                        () -> new UnsatisfiedLinkError("the C library has no clock_gettime")),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS),
                Linker.Option.critical(true));
    }

    /** {@return the time of the last tick in nanoseconds, from some origin; {@link Long#MIN_VALUE} if the system refuses it} */
    public long nowNs() {
        try {
            int result = (int) CLOCK_GETTIME.invokeExact(CLOCK_MONOTONIC_COARSE, written);
            return result == 0 ? time[0] * NS_PER_S + time[1] : Long.MIN_VALUE;
        } catch (Throwable t) {
            throw CFunction.unexpected(t);
        }
    }
}
