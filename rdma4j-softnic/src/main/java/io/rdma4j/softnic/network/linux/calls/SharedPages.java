// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Pages of memory that other processes of the user can map: a file without a name, which ends with the processes that have
 * it. It is sealed against becoming shorter, so that no process can take pages away from under another. Source: memfd_create(2), fcntl(2).
 */
public final class SharedPages implements AutoCloseable {
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int F_SEAL_SEAL = 1;
    private static final int F_SEAL_SHRINK = 2;
    private static final int F_SEAL_GROW = 4;
    private static final int SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;
    /** O_RDWR and O_CLOEXEC. */
    private static final int FLAGS = 2 | 0x8_0000;
    /** O_RDONLY and O_CLOEXEC. */
    private static final int FLAGS_TO_READ = 0x8_0000;
    /** What the system's names of such files begin with. */
    private static final String NAMES = "/memfd:";
    private static final int ZEROS = 64 << 10;

    private final int descriptor;
    private final Arena arena = Arena.ofShared();

    private SharedPages(int descriptor) {
        this.descriptor = descriptor;
    }

    /** Makes pages of zeros, which take no memory until they are used. */
    public static SharedPages create(String name, long length) throws LinuxSocket.Refused {
        return create(name, length, SEALS);
    }

    /** Makes pages that can {@link #grow}. */
    public static SharedPages createGrowing(String name) throws LinuxSocket.Refused {
        return create(name, 0, F_SEAL_SEAL | F_SEAL_SHRINK);
    }

    private static SharedPages create(String name, long length, int seals)
            throws LinuxSocket.Refused {
        int made = LinuxSocket.Refused.unlessDone(MemoryCalls.memfdCreate(name),
                "memfd_create");
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket.Refused.unlessDone(MemoryCalls.ftruncate(made, length), "ftruncate");
            LinuxSocket.Refused.unlessDone(
                    new LinuxCalls(call).fcntl(made, F_ADD_SEALS, seals), "fcntl F_ADD_SEALS");
            return new SharedPages(made);
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(made);
            throw e;
        }
    }

    /**
     * Opens the pages of another process.
     *
     * @param process the process ID
     * @param number the file descriptor in that process
     * @throws LinuxSocket.Refused if it is no memory of this length, or this process may not open it
     */
    public static SharedPages open(long process, int number, long length)
            throws LinuxSocket.Refused {
        return of(ProcessFiles.open(process, number, NAMES, FLAGS), length);
    }

    /**
     * Opens the pages of another process, of whatever length, to read them.
     *
     * @param process the process ID
     * @param number the file descriptor in that process
     * @throws LinuxSocket.Refused if they can become fewer, or this process may not open them
     */
    public static SharedPages openToRead(long process, int number) throws LinuxSocket.Refused {
        int opened = ProcessFiles.open(process, number, NAMES, FLAGS_TO_READ);
        return ofAnyLength(opened);
    }

    /** {@return pages of a name that another process of this user and network namespace has, null if none is found} */
    public static @Nullable SharedPages find(String name, long length) throws LinuxSocket.Refused {
        // What follows the name is no part of it.
        int opened = ProcessFiles.find(NAMES + name + " (", FLAGS);
        return opened < 0 ? null : of(opened, length);
    }

    /**
     * {@return the pages of an open file, which is closed with them}
     *
     * @throws LinuxSocket.Refused if it is no memory of this length; it is closed then
     */
    public static SharedPages of(int opened, long length) throws LinuxSocket.Refused {
        SharedPages pages = ofAnyLength(opened);
        if (pages.length() != length) {
            pages.close();
            throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "lseek");
        }
        return pages;
    }

    private static SharedPages ofAnyLength(int opened) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            int seals = new LinuxCalls(call).fcntl(opened, F_GET_SEALS, 0);
            if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
                throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "fcntl F_GET_SEALS");
            }
            return new SharedPages(opened);
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(opened);
            throw e;
        }
    }

    /** {@return how many bytes there are} */
    public long length() {
        return MemoryCalls.length(descriptor);
    }

    /** Makes them longer. */
    public void grow(long length) throws LinuxSocket.Refused {
        LinuxSocket.Refused.unlessDone(MemoryCalls.ftruncate(descriptor, length), "ftruncate");
    }

    /** {@return whether the system would give a process so much memory of its own, as far as it decides that at once} */
    public static boolean wouldGive(long length) {
        return MemoryCalls.wouldGive(length);
    }

    /**
     * Writes zeros: pages that were never written have no memory yet, and a store to them ends the process by a signal if no
     * memory is left.
     *
     * @throws LinuxSocket.Refused ENOMEM and its like if there is none
     */
    public void fill(long length) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            LinuxCalls calls = new LinuxCalls(call);
            MemorySegment zeros = call.allocate(ZEROS);
            for (long at = 0; at < length;) {
                long next = Math.min(zeros.byteSize(), length - at);
                at += LinuxSocket.Refused.unlessDone(
                        (int) calls.pwrite(descriptor, zeros.asSlice(0, next), at),
                        "pwrite to shared memory");
            }
        }
    }

    /**
     * Maps some of the pages until {@link #close}.
     *
     * @param offset a multiple of the system's page size
     */
    public MemorySegment map(long offset, long length) throws LinuxSocket.Refused {
        return segment(MemoryCalls.mapShared(descriptor, offset, length), length, arena,
                pages -> MemoryCalls.unmap(pages.address(), length));
    }

    /** Maps some of the pages, to be read only, until an arena is closed. */
    public MemorySegment mapToRead(long offset, long length, Arena until)
            throws LinuxSocket.Refused {
        return segment(MemoryCalls.mapToRead(descriptor, offset, length), length, until,
                pages -> MemoryCalls.unmap(pages.address(), length)).asReadOnly();
    }

    /**
     * Gives some of the pages memory, of zeros, and maps them until an arena is closed. Then the memory is given back.
     *
     * @param atEnd is run before that, by the thread that closes the arena
     * @param afterEnd is run after that
     * @throws LinuxSocket.Refused ENOMEM and its like if there is not so much memory
     */
    public MemorySegment allocate(long offset, long length, Arena until,
            Consumer<MemorySegment> atEnd, Runnable afterEnd) throws LinuxSocket.Refused {
        long address = MemoryCalls.mapShared(descriptor, offset, length);
        int outcome = address < 0 ? 0 : MemoryCalls.allocate(descriptor, offset, length);
        if (outcome < 0) {
            MemoryCalls.unmap(address, length);
            throw new LinuxSocket.Refused(-outcome, "fallocate");
        }
        MemorySegment memory = segment(address, length, until, pages -> {
            atEnd.accept(pages);
            if (MemoryCalls.remove(pages) < 0) {
                pages.fill((byte) 0); // Who has this place next finds nothing of today's.
            }
            MemoryCalls.unmap(pages.address(), length);
            afterEnd.run();
        });
        MemoryCalls.populate(memory);
        return memory;
    }

    private static MemorySegment segment(long address, long length, Arena until,
            Consumer<MemorySegment> atEnd) throws LinuxSocket.Refused {
        if (address < 0) {
            throw new LinuxSocket.Refused((int) -address, "mmap");
        }
        return MemorySegment.ofAddress(address).reinterpret(length, until, atEnd);
    }

    /** {@return the file descriptor by which other processes find them} */
    public int descriptor() {
        return descriptor;
    }

    /** Unmaps the pages. Later accesses, in any thread, throw an {@link IllegalStateException}. */
    @Override
    public void close() {
        arena.close();
        LinuxCalls.close(descriptor);
    }
}
