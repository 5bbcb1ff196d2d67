// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A function of the C library with at most six parameters, which are integers or addresses, and such a result. For any thread.
 *
 * <p>All are called as if they had six parameters of 64 bits, because the JVM generates a dozen classes for each type of
 * function, 10 ms of processor time (ADR 55). The calling conventions of Linux permit it: an argument is a register or a
 * slot of 64 bits, an {@code int} is its lower half, the caller removes what was passed, and arguments that a function does not
 * have are not looked at. A pointer is passed as a number, so the caller keeps the memory until the call has returned
 * ({@link #address}).
 *
 * <p>A call with an {@link ErrorNumber} returns the negated error number if it fails, one without returns -1, and is faster:
 * see there. The instances are constants, so that the compiler inlines the call.
 *
 * @param plain without the error number
 * @param captured with the memory for the error number as the first parameter
 * @param isInt whether the result is an {@code int}: the upper half of the register is not defined then
 */
public record CFunction(MethodHandle plain, MethodHandle captured, boolean isInt) {
    private static final FunctionDescriptor TYPE = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    /** {@return a function whose result is an int} */
    static CFunction ofInt(String name) {
        return of(name, true);
    }

    /** {@return a function whose result is a number of 64 bits, or a pointer} */
    public static CFunction ofLong(String name) {
        return of(name, false);
    }

    private static CFunction of(String name, boolean isInt) {
        Linker linker = Linker.nativeLinker();
        MemorySegment function = linker.defaultLookup().find(name).orElseThrow(
                () -> new UnsatisfiedLinkError("the C library has no " + name));
        return new CFunction(linker.downcallHandle(function, TYPE),
                linker.downcallHandle(function, TYPE, ErrorNumber.CAPTURE), isInt);
    }

    /** {@return a segment as an argument} It is native, and its arena is not closed before the call has returned. */
    public static long address(MemorySegment segment) {
        assert segment.isNative() && segment.scope().isAlive() : segment;
        return segment.address();
    }

    public long call() {
        return call(0, 0, 0, 0, 0, 0);
    }

    public long call(long a) {
        return call(a, 0, 0, 0, 0, 0);
    }

    public long call(long a, long b) {
        return call(a, b, 0, 0, 0, 0);
    }

    public long call(long a, long b, long c) {
        return call(a, b, c, 0, 0, 0);
    }

    public long call(long a, long b, long c, long d) {
        return call(a, b, c, d, 0, 0);
    }

    private long call(long a, long b, long c, long d, long e, long f) {
        try {
            long result = (long) plain.invokeExact(a, b, c, d, e, f);
            return isInt ? (int) result : result;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public long call(ErrorNumber error, long a) {
        return call(error, a, 0, 0, 0, 0, 0);
    }

    public long call(ErrorNumber error, long a, long b) {
        return call(error, a, b, 0, 0, 0, 0);
    }

    public long call(ErrorNumber error, long a, long b, long c) {
        return call(error, a, b, c, 0, 0, 0);
    }

    public long call(ErrorNumber error, long a, long b, long c, long d) {
        return call(error, a, b, c, d, 0, 0);
    }

    public long call(ErrorNumber error, long a, long b, long c, long d, long e) {
        return call(error, a, b, c, d, e, 0);
    }

    public long call(ErrorNumber error, long a, long b, long c, long d, long e, long f) {
        try {
            long result = (long) captured.invokeExact(error.state(), a, b, c, d, e, f);
            return error.outcome(isInt ? (int) result : result);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** A call throws nothing but what the JVM throws anywhere. */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(thrown);
    }
}
