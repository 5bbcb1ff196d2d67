package io.rdma4j.softnic.network.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The C library's functions for shared memory, one method for each function. They are not in {@link LinuxCalls} because
 * older libraries lack some. A call that fails returns the negated error number; only {@link #length}, {@link #unmap} and
 * {@link #remove} return -1. For any thread.
 */
final class MemoryCalls {
    private static final MethodHandle MEMFD_CREATE = captured("memfd_create", JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle FTRUNCATE = captured("ftruncate", JAVA_INT, JAVA_INT,
            JAVA_LONG);
    private static final MethodHandle LSEEK = handle("lseek", JAVA_LONG, JAVA_INT, JAVA_LONG,
            JAVA_INT);
    private static final MethodHandle MMAP = captured("mmap", JAVA_LONG, ADDRESS, JAVA_LONG,
            JAVA_INT,
            JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = handle("munmap", JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle MADVISE = handle("madvise", JAVA_INT, ADDRESS, JAVA_LONG,
            JAVA_INT);
    private static final MethodHandle PIPE2 = captured("pipe2", JAVA_INT, ADDRESS, JAVA_INT);

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int SEEK_END = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MADV_REMOVE = 9;
    private static final long MAP_FAILED = -1;

    private MemoryCalls() {}

    private static MethodHandle handle(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return Linker.nativeLinker().downcallHandle(find(function),
                FunctionDescriptor.of(result, parameters));
    }

    private static MethodHandle captured(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return Linker.nativeLinker().downcallHandle(find(function),
                FunctionDescriptor.of(result, parameters), ErrorNumber.CAPTURE);
    }

    private static MemorySegment find(String function) {
        return Linker.nativeLinker().defaultLookup().find(function).orElseThrow(
                () -> new UnsatisfiedLinkError("the C library has no " + function));
    }

    /** memfd_create(2), for memory whose length can be sealed. {@return the file descriptor} */
    static int memfdCreate(String name) {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            return error.outcome((int) MEMFD_CREATE.invokeExact(error.state(),
                    call.allocateFrom(name), MFD_CLOEXEC | MFD_ALLOW_SEALING));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ftruncate(2). */
    static int ftruncate(int descriptor, long length) {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            return error.outcome((int) FTRUNCATE.invokeExact(error.state(), descriptor, length));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return the bytes of a file} */
    static long length(int descriptor) {
        try {
            return (long) LSEEK.invokeExact(descriptor, 0L, SEEK_END);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** mmap(2) with shared read and write access. {@return the address} */
    static long mapShared(int descriptor, long offset, long length) {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            long address = (long) MMAP.invokeExact(error.state(), MemorySegment.NULL, length,
                    PROT_READ_WRITE, MAP_SHARED, descriptor, offset);
            return address == MAP_FAILED ? error.outcome(address) : address;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** munmap(2). */
    static int unmap(long address, long length) {
        try {
            return (int) MUNMAP.invokeExact(MemorySegment.ofAddress(address), length);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** madvise(2) {@code MADV_REMOVE}: gives the pages back, which read as zeros then. */
    static int remove(MemorySegment pages) {
        try {
            return (int) MADVISE.invokeExact(pages, pages.byteSize(), MADV_REMOVE);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * pipe2(2).
     *
     * @param descriptors receives both, the one to read from first
     */
    static int pipe(MemorySegment descriptors, int flags) {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            return error.outcome((int) PIPE2.invokeExact(error.state(), descriptors, flags));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(thrown);
    }
}
