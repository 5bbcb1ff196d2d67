// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * Locks on single bytes of a file, which show other processes that their holder is alive: the system releases them when the
 * process ends in any way. Java's own file locks are lost when any channel of the process closes the file; these, {@code
 * F_OFD_SETLK} of fcntl(2), belong to one open file. Thread safe.
 */
public final class ByteLocks implements AutoCloseable {
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x8_0000;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_OFD_GETLK = 36;
    private static final int F_OFD_SETLK = 37;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;
    /**
     * When a process ends, its files are closed in the order of their descriptors, and its locks must last until its sockets
     * are closed. So a duplicate descriptor keeps the file open, above those of sockets if the limit of the process allows
     * it, and if it has no more sockets and files than that. The system's table of descriptors is as long as the highest.
     */
    private static final int HIGH_DESCRIPTOR = 1000;

    private final Arena arena = Arena.ofShared();
    private final LinuxCalls calls;
    /** {@code struct flock}. */
    private final MemorySegment lock;
    private final MemorySegment number;
    private final int file;
    private final int keptOpen;

    public ByteLocks(Path path) throws LinuxSocket.Refused {
        calls = new LinuxCalls(arena);
        lock = arena.allocate(32, 8);
        number = arena.allocate(JAVA_LONG);
        file = calls.open(arena.allocateFrom(path.toString()), O_RDWR | O_CLOEXEC, 0);
        if (file < 0) {
            arena.close();
            throw new LinuxSocket.Refused(-file, "open");
        }
        keptOpen = calls.fcntl(file, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    }

    /** Writes a number into the file, if it can be written to. */
    public synchronized void put(long at, long value) {
        number.set(JAVA_LONG, 0, value);
        calls.pwrite(file, number, at);
    }

    /** {@return the number at a place of the file, 0 if there is none} */
    public synchronized long get(long at) {
        return calls.pread(file, number, at) == number.byteSize() ? number.get(JAVA_LONG, 0) : 0;
    }

    /** Takes the lock of a byte. {@return false if another process has it} */
    public synchronized boolean tryLock(long at) throws LinuxSocket.Refused {
        int result = apply(F_OFD_SETLK, F_WRLCK, at);
        if (result == -LinuxCalls.EAGAIN || result == -LinuxCalls.EACCES) {
            return false;
        }
        LinuxSocket.Refused.unlessDone(result, "fcntl F_OFD_SETLK");
        return true;
    }

    public synchronized void unlock(long at) throws LinuxSocket.Refused {
        LinuxSocket.Refused.unlessDone(apply(F_OFD_SETLK, F_UNLCK, at), "fcntl F_OFD_SETLK");
    }

    /** {@return whether another process has the lock of a byte} Locks of this process do not count. */
    public synchronized boolean isLockedByOther(long at) throws LinuxSocket.Refused {
        LinuxSocket.Refused.unlessDone(apply(F_OFD_GETLK, F_WRLCK, at), "fcntl F_OFD_GETLK");
        return lock.get(JAVA_SHORT, 0) != F_UNLCK;
    }

    private int apply(int command, short kind, long at) {
        lock.fill((byte) 0);
        lock.set(JAVA_SHORT, 0, kind);
        lock.set(JAVA_LONG, 8, at);
        lock.set(JAVA_LONG, 16, 1);
        // l_pid has to be 0.
        lock.set(JAVA_INT, 24, 0);
        return calls.fcntl(file, command, lock);
    }

    /** Releases all locks. Later calls throw an {@link IllegalStateException}. */
    @Override
    public synchronized void close() {
        LinuxCalls.close(file);
        if (keptOpen >= 0) {
            LinuxCalls.close(keptOpen);
        }
        arena.close();
    }
}
