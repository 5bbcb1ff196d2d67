// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.linux.calls.CFunction.address;

/**
 * The C library's functions for descriptors and files, one method for each function; {@link LinuxSocket} has those for UDP
 * sockets. A call that fails returns the negated error number. Only {@code ppoll}, {@code epoll_wait}, {@code read} and
 * {@code write} return -1, because calls of the hot path do not capture the error number ({@link ErrorNumber}).
 *
 * <p>The class can be initialized only if native access is enabled. One thread at a time may use an instance, because it
 * has the error number of the last call.
 */
public final class LinuxCalls {
    /** No such file. */
    static final int ENOENT = 2;
    /** No such process. */
    public static final int ESRCH = 3;
    /** Interrupted by a signal. */
    public static final int EINTR = 4;
    /** The kernel has no memory. */
    public static final int ENOMEM = 12;
    /** The system has no more file descriptors. */
    public static final int ENFILE = 23;
    /** This process has no more file descriptors. */
    public static final int EMFILE = 24;
    /** The kernel has no buffers. */
    public static final int ENOBUFS = 105;
    /** Another process has the lock. */
    static final int EACCES = 13;
    /** Nothing to read, or no room. Error numbers: errno(3), the same on all processors that Java runs on. */
    public static final int EAGAIN = 11;
    /** The kernel or the device cannot do it. */
    public static final int EIO = 5;
    /** The values do not fit together. */
    public static final int EINVAL = 22;
    /** Too long for the interface. */
    public static final int EMSGSIZE = 90;
    /** An option that is not known. */
    public static final int ENOPROTOOPT = 92;
    /** Not for this kind of socket. */
    public static final int EOPNOTSUPP = 95;
    /** The other side has reset a connection before it was accepted. */
    public static final int ECONNABORTED = 103;
    /** A fault of the protocol. */
    public static final int EPROTO = 71;
    /** The network interface is down. */
    public static final int ENETDOWN = 100;
    /** The machine is in no network. */
    public static final int ENONET = 64;
    /** The other machine is down. */
    public static final int EHOSTDOWN = 112;
    /** No answer. */
    public static final int ETIMEDOUT = 110;
    /** No route. */
    public static final int ENETUNREACH = 101;
    /** Host unreachable, as the last router reports. */
    public static final int EHOSTUNREACH = 113;
    /** It is under way. */
    public static final int EINPROGRESS = 115;
    /** Nobody listens there. */
    public static final int ECONNREFUSED = 111;
    /** The other side has closed the connection. */
    static final int ECONNRESET = 104;
    /** An address of another process. */
    public static final int EADDRINUSE = 98;
    /** No address of this machine. */
    public static final int EADDRNOTAVAIL = 99;

    private static final CFunction SOCKET = CFunction.ofInt("socket");
    private static final CFunction PPOLL = CFunction.ofInt("ppoll");
    private static final CFunction EPOLL_CREATE1 = CFunction.ofInt("epoll_create1");
    private static final CFunction EPOLL_CTL = CFunction.ofInt("epoll_ctl");
    private static final CFunction EPOLL_WAIT = CFunction.ofInt("epoll_wait");
    private static final CFunction EVENTFD = CFunction.ofInt("eventfd");
    private static final CFunction READ = CFunction.ofLong("read");
    private static final CFunction WRITE = CFunction.ofLong("write");
    private static final CFunction PREAD = CFunction.ofLong("pread");
    private static final CFunction PWRITE = CFunction.ofLong("pwrite");
    private static final CFunction OPEN = CFunction.ofInt("open");
    private static final CFunction FCNTL = CFunction.ofInt("fcntl");
    private static final CFunction CLOSE = CFunction.ofInt("close");

    private final ErrorNumber error;

    /** @param arena allocates the memory for the error number */
    public LinuxCalls(Arena arena) {
        error = new ErrorNumber(arena);
    }

    /** socket(2). {@return the file descriptor} */
    public int socket(int family, int type, int protocol) {
        return (int) SOCKET.call(error, family, type, protocol);
    }

    /** ppoll(2) with the signal mask as it is. {@return how many descriptors are ready} */
    int ppoll(MemorySegment descriptors, long count, MemorySegment timeout) {
        return (int) PPOLL.call(address(descriptors), count, address(timeout), 0);
    }

    /** As {@link #ppoll}. {@return how many, or why it fails} */
    int ppollOrFail(MemorySegment descriptors, long count, MemorySegment timeout) {
        return (int) PPOLL.call(error, address(descriptors), count, address(timeout), 0);
    }

    /** epoll_wait(2) for at most one event. {@return how many, or why it fails} */
    int epollWaitOrFail(int epoll, long event) {
        return (int) EPOLL_WAIT.call(error, epoll, event, 1, 0);
    }

    /** epoll_create1(2). */
    public int epollCreate1(int flags) {
        return (int) EPOLL_CREATE1.call(error, flags);
    }

    /** epoll_ctl(2). */
    public int epollCtl(int epoll, int operation, int descriptor, MemorySegment event) {
        return (int) EPOLL_CTL.call(error, epoll, operation, descriptor, address(event));
    }

    /**
     * epoll_wait(2) with time-out 0.
     *
     * @param events the address of memory that the caller knows to be there
     * @return the number of events
     */
    public static int epollWait(int epoll, long events, int most) {
        return epollWait(epoll, events, most, 0);
    }

    /** As above, with another time-out; -1 waits until there is an event, or a signal. */
    public static int epollWait(int epoll, long events, int most, int timeoutMs) {
        return (int) EPOLL_WAIT.call(epoll, events, most, timeoutMs);
    }

    /** eventfd(2). */
    public int eventfd(int value, int flags) {
        return (int) EVENTFD.call(error, value, flags);
    }

    /** read(2). */
    public long read(int descriptor, MemorySegment into) {
        return READ.call(descriptor, address(into), into.byteSize());
    }

    /** write(2). */
    public long write(int descriptor, MemorySegment from) {
        return WRITE.call(descriptor, address(from), from.byteSize());
    }

    /** As {@link #write}. {@return the bytes written, or why not} */
    public long writeOrFail(int descriptor, MemorySegment from) {
        long written = write(descriptor, from);
        return written >= 0
                ? written
                : WRITE.call(error, descriptor, address(from), from.byteSize());
    }

    /** pread(2). {@return the bytes read} */
    long pread(int descriptor, MemorySegment into, long at) {
        return PREAD.call(error, descriptor, address(into), into.byteSize(), at);
    }

    /** pwrite(2). {@return the bytes written} */
    long pwrite(int descriptor, MemorySegment from, long at) {
        return PWRITE.call(error, descriptor, address(from), from.byteSize(), at);
    }

    /** open(2). {@return the file descriptor} */
    int open(MemorySegment path, int flags, int mode) {
        return (int) OPEN.call(error, address(path), flags, mode);
    }

    /** fcntl(2) with a number. */
    int fcntl(int descriptor, int command, int argument) {
        return (int) FCNTL.call(error, descriptor, command, argument);
    }

    /** fcntl(2) with a structure. */
    int fcntl(int descriptor, int command, MemorySegment argument) {
        return (int) FCNTL.call(error, descriptor, command, address(argument));
    }

    /** close(2). For any thread. {@return -1 if it fails} */
    public static int close(int descriptor) {
        return (int) CLOSE.call(descriptor);
    }
}
