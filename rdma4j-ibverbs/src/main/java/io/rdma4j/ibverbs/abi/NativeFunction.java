// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * A function of a library, for calls that are not many a second: its arguments are numbers, its error number is kept.
 * Posting and polling have calls of their own ({@link HotCalls}).
 */
public final class NativeFunction {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(PathElement.groupElement("errno"));

    private final String name;
    private final int parameters;
    private final Signature signature;
    private final long address;
    private volatile @Nullable MethodHandle handle;

    /**
     * @param name for errors
     * @param address its address, not 0
     */
    NativeFunction(String name, Signature signature, long address) {
        this.name = name;
        this.signature = signature;
        this.address = address;
        parameters = signature.parameters().size();
    }

    /**
     * Links the function at its first call: most programs call only a few functions, and linking one takes far longer than a
     * call.
     */
    private MethodHandle linked() {
        MethodHandle known = handle;
        if (known == null) {
            known = ofNumbers(LINKER.downcallHandle(MemorySegment.ofAddress(address),
                    signature.descriptor(), signature.options()), parameters);
            handle = known;
        }
        return known;
    }

    /** {@return a function of an open device, as its provider has set it} */
    public static NativeFunction of(ContextOperation operation, long address) {
        return new NativeFunction(operation.name(), operation.signature(), address);
    }

    /** {@return the same with numbers of 64 bits for arguments and result} */
    private static MethodHandle ofNumbers(MethodHandle typed, int parameters) {
        Class<?>[] types = new Class<?>[parameters + 1];
        Arrays.fill(types, long.class);
        types[0] = MemorySegment.class;
        MethodType wide = MethodType.methodType(
                typed.type().returnType() == void.class ? void.class : long.class, types);
        MethodHandle cast = MethodHandles.explicitCastArguments(typed, wide);
        if (wide.returnType() == void.class) {
            cast = MethodHandles.filterReturnValue(cast, MethodHandles.constant(long.class, 0L));
        }
        return cast.asSpreader(long[].class, parameters);
    }

    /**
     * Calls it.
     *
     * @param arguments pointers as addresses, integers with their sign; narrower types take the lower bits
     */
    public Outcome call(long... arguments) {
        if (arguments.length != parameters) {
            throw new IllegalArgumentException(name + " takes " + parameters + " arguments, not "
                    + arguments.length);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = (long) linked().invokeExact(state, arguments);
            return new Outcome(result, state.get(JAVA_INT, ERRNO));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException("calling " + name, t);
        }
    }
}
