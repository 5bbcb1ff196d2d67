// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;

import static io.rdma4j.softnic.network.linux.calls.CFunction.address;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The C library's functions for sharing memory, one method for each function. They are not in {@link LinuxCalls} because
 * older libraries lack some. A call that fails returns the negated error number; only {@link #length}, {@link #unmap} and
 * {@link #remove} return -1. For any thread.
 */
public final class MemoryCalls {
    private static final CFunction MEMFD_CREATE = CFunction.ofInt("memfd_create");
    private static final CFunction FTRUNCATE = CFunction.ofInt("ftruncate");
    private static final CFunction FALLOCATE = CFunction.ofInt("fallocate");
    private static final CFunction LSEEK = CFunction.ofLong("lseek");
    private static final CFunction MMAP = CFunction.ofLong("mmap");
    private static final CFunction MUNMAP = CFunction.ofInt("munmap");
    private static final CFunction MADVISE = CFunction.ofInt("madvise");
    private static final CFunction PIPE2 = CFunction.ofInt("pipe2");
    private static final CFunction GETRANDOM = CFunction.ofLong("getrandom");

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int SEEK_END = 2;
    private static final int PROT_READ = 1;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MADV_REMOVE = 9;
    private static final int MADV_POPULATE_WRITE = 23;

    private MemoryCalls() {}

    /** memfd_create(2), for memory whose length can be sealed. {@return the file descriptor} */
    static int memfdCreate(String name) {
        try (Arena call = Arena.ofConfined()) {
            return (int) MEMFD_CREATE.call(new ErrorNumber(call), address(call.allocateFrom(name)),
                    MFD_CLOEXEC | MFD_ALLOW_SEALING);
        }
    }

    /** ftruncate(2). */
    static int ftruncate(int descriptor, long length) {
        try (Arena call = Arena.ofConfined()) {
            return (int) FTRUNCATE.call(new ErrorNumber(call), descriptor, length);
        }
    }

    /** fallocate(2): gives a part of a file its pages, of zeros. Nothing is left if there are too few. */
    static int allocate(int descriptor, long offset, long length) {
        try (Arena call = Arena.ofConfined()) {
            return (int) FALLOCATE.call(new ErrorNumber(call), descriptor, 0, offset, length);
        }
    }

    /** {@return the bytes of a file} */
    static long length(int descriptor) {
        return LSEEK.call(descriptor, 0, SEEK_END);
    }

    /** mmap(2) with shared read and write access. {@return the address} */
    static long mapShared(int descriptor, long offset, long length) {
        return map(descriptor, offset, length, PROT_READ_WRITE, MAP_SHARED);
    }

    /** As {@link #mapShared}, to be read only. */
    static long mapToRead(int descriptor, long offset, long length) {
        return map(descriptor, offset, length, PROT_READ, MAP_SHARED);
    }

    /** {@return whether the system would give a process so much memory of its own, as far as it decides that at once} */
    static boolean wouldGive(long length) {
        long address = map(-1, 0, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS);
        return address >= 0 && unmap(address, length) == 0;
    }

    private static long map(int descriptor, long offset, long length, int rights, int kind) {
        try (Arena call = Arena.ofConfined()) {
            return MMAP.call(new ErrorNumber(call), 0, length, rights, kind, descriptor, offset);
        }
    }

    /** munmap(2). */
    static int unmap(long address, long length) {
        return (int) MUNMAP.call(address, length);
    }

    /** madvise(2) {@code MADV_REMOVE}: gives the pages back, which read as zeros then. */
    public static int remove(MemorySegment pages) {
        return (int) MADVISE.call(address(pages), pages.byteSize(), MADV_REMOVE);
    }

    /** madvise(2) {@code MADV_POPULATE_WRITE}: maps all pages now. A kernel that cannot maps each when it is used. */
    static void populate(MemorySegment pages) {
        long _ = MADVISE.call(address(pages), pages.byteSize(), MADV_POPULATE_WRITE);
    }

    /**
     * pipe2(2).
     *
     * @param descriptors receives both, the one to read from first
     */
    public static int pipe(MemorySegment descriptors, int flags) {
        try (Arena call = Arena.ofConfined()) {
            return (int) PIPE2.call(new ErrorNumber(call), address(descriptors), flags);
        }
    }

    /**
     * getrandom(2). {@return any number, which others cannot guess} The JDK's {@link SecureRandom}, which is slow when it is
     * first used, has it where the system refuses the call.
     */
    public static long random() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment number = call.allocate(JAVA_LONG);
            boolean isFilled = GETRANDOM.call(address(number), number.byteSize(), 0) == number
                    .byteSize();
            return isFilled ? number.get(JAVA_LONG, 0) : new SecureRandom().nextLong();
        }
    }
}
