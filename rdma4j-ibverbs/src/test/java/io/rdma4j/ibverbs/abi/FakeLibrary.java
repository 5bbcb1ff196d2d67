// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A library whose functions are written in Java: a function takes its arguments as numbers of 64 bits, with their sign, and
 * says what it returns. Functions that were not given do nothing and return 0.
 */
public final class FakeLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle ERRNO_LOCATION = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("__errno_location"),
            FunctionDescriptor.of(ValueLayout.JAVA_LONG));

    private final Arena arena = Arena.ofAuto();
    private final Map<String, MemorySegment> functions = new HashMap<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    /** What a function does. */
    @FunctionalInterface
    public interface Function {
        /** {@return the result, or what {@link #fail} gives} */
        long call(long[] arguments);
    }

    /** Has all functions of a library do nothing. */
    public FakeLibrary(List<? extends Symbol> symbols) {
        symbols.forEach(each -> define(each, arguments -> 0));
    }

    /** {@return the C library} */
    public static SymbolLookup system() {
        return LINKER.defaultLookup();
    }

    /** Defines a function, before it is looked up. */
    public void define(Symbol symbol, Function function) {
        functions.put(symbol.symbol(), stub(symbol.signature(), function));
    }

    /** Takes a function away, as an older version of the library would not have it. */
    public void remove(Symbol symbol) {
        functions.remove(symbol.symbol());
    }

    /** {@return a function that is reached by a pointer} */
    public MemorySegment stub(Signature signature, Function function) {
        int count = signature.parameters().size();
        FunctionDescriptor descriptor = signature.descriptor();
        try {
            MethodHandle caught = MethodHandles.lookup()
                    .findVirtual(FakeLibrary.class, "caught",
                            MethodType.methodType(long.class, Function.class, long[].class))
                    .bindTo(this).bindTo(function).asCollector(long[].class, count);
            MethodHandle typed = MethodHandles.explicitCastArguments(caught,
                    descriptor.toMethodType());
            return LINKER.upcallStub(typed, descriptor, arena);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An exception that left a function would end the JVM. */
    @SuppressWarnings("unused")
    private long caught(Function function, long[] arguments) {
        try {
            return function.call(arguments);
        } catch (RuntimeException | Error e) {
            failures.add(e);
            return -1;
        }
    }

    /** {@return -1, with the error number in {@code errno}} */
    public static long fail(int number) {
        try {
            long location = (long) ERRNO_LOCATION.invokeExact();
            MemorySegment.ofAddress(location).reinterpret(Integer.BYTES).set(ValueLayout.JAVA_INT,
                    0, number);
            return -1;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** {@return what functions have thrown} */
    public List<Throwable> failures() {
        return List.copyOf(failures);
    }

    /** {@return where its functions are found} */
    public SymbolLookup lookup() {
        return name -> Optional.ofNullable(functions.get(name));
    }
}
