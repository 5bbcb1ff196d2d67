// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Pages of memory that other processes of the user can map: a file without a name, which ends with the processes that have
 * it. Its length is sealed, so that no process can take pages away from under another. Source: memfd_create(2), fcntl(2).
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
        int made = LinuxSocket.Refused.unlessDone(MemoryCalls.memfdCreate(name),
                "memfd_create");
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket.Refused.unlessDone(MemoryCalls.ftruncate(made, length), "ftruncate");
            LinuxSocket.Refused.unlessDone(
                    new LinuxCalls(call).fcntl(made, F_ADD_SEALS, SEALS), "fcntl F_ADD_SEALS");
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
        try (Arena call = Arena.ofConfined()) {
            int seals = new LinuxCalls(call).fcntl(opened, F_GET_SEALS, 0);
            if (seals < 0 || (seals & F_SEAL_SHRINK) == 0
                    || MemoryCalls.length(opened) != length) {
                throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "fcntl F_GET_SEALS");
            }
            return new SharedPages(opened);
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(opened);
            throw e;
        }
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
        long address = MemoryCalls.mapShared(descriptor, offset, length);
        if (address < 0) {
            throw new LinuxSocket.Refused((int) -address, "mmap");
        }
        return MemorySegment.ofAddress(address).reinterpret(length, arena,
                pages -> MemoryCalls.unmap(pages.address(), length));
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
