// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MemoryCalls;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * A pipe by which one process wakes a sleeping thread of another. The process that sleeps reads from it,
 * and others open its other end by /proc. Source: pipe(7).
 */
final class WakePipe implements AutoCloseable, SocketPoller.Source {
    private static final int O_WRONLY = 1;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x8_0000;
    private static final int EPIPE = 32;
    private static final int BYTES = 64;

    private final Arena arena;
    private final LinuxCalls calls;
    private final MemorySegment bytes;
    private final MemorySegment one;
    /** -1 for the pipe of another process. */
    private final int readable;
    private final int writable;
    private final long inode;

    /** @throws LinuxSocket.Refused if there is no memory for it; the descriptors are closed then */
    private WakePipe(int readable, int writable, long inode) throws LinuxSocket.Refused {
        this.readable = readable;
        this.writable = writable;
        this.inode = inode;
        arena = Arena.ofShared();
        try {
            calls = new LinuxCalls(arena);
            bytes = arena.allocate(BYTES, 8);
        } catch (OutOfMemoryError none) {
            close();
            throw new LinuxSocket.Refused(LinuxCalls.ENOMEM, "a pipe's memory");
        }
        one = bytes.asSlice(0, 1);
    }

    /** {@return a pipe of this process} */
    static WakePipe create() throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment both = call.allocate(8, 4);
            LinuxSocket.Refused.unlessDone(MemoryCalls.pipe(both, O_NONBLOCK | O_CLOEXEC),
                    "pipe2");
            return of(both.get(JAVA_INT, 0), both.get(JAVA_INT, 4));
        }
    }

    private static WakePipe of(int readable, int writable) throws LinuxSocket.Refused {
        long inode;
        try {
            inode = ProcessFiles.inode(readable);
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(readable);
            LinuxCalls.close(writable);
            throw e;
        }
        // The writable end stays open: otherwise the pipe would be ready whenever no other process has it
        // open.
        return new WakePipe(readable, writable, inode);
    }

    /**
     * {@return the pipe of another process}
     *
     * @param number the file descriptor of its readable end in that process
     * @param inode the inode of the pipe
     * @throws LinuxSocket.Refused if that file is not the pipe, because it was closed, or this process may
     *         not open it
     */
    static WakePipe open(long process, int number, long inode) throws LinuxSocket.Refused {
        return new WakePipe(-1, ProcessFiles.open(process, number, "pipe:[" + inode + "]",
                O_WRONLY | O_NONBLOCK | O_CLOEXEC), inode);
    }

    @Override
    public int readable() {
        return readable;
    }

    /** {@return the inode, which identifies the pipe} */
    long inode() {
        return inode;
    }

    /**
     * Ends the present sleep, or the next one. {@return false if there is no reader any more} For one thread
     * at a time.
     */
    boolean wake() {
        return calls.writeOrFail(writable, one) != -EPIPE;
    }

    @Override
    public void drain() {
        calls.read(readable, bytes);
    }

    @Override
    public void close() {
        LinuxCalls.close(writable);
        if (readable >= 0) {
            LinuxCalls.close(readable);
        }
        arena.close();
    }
}
