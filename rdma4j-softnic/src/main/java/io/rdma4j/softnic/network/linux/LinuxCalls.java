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
 * The C library's functions for descriptors and files, one method for each function; {@link LinuxSocket} has those for UDP
 * sockets. A call that fails returns the negated error number. Only {@code ppoll}, {@code epoll_wait}, {@code read} and
 * {@code write} return -1, because calls of the hot path do not capture the error number ({@link ErrorNumber}).
 *
 * <p>The class can be initialized only if native access is enabled. One thread at a time may use an instance, because it
 * has the error number of the last call.
 */
final class LinuxCalls {
    /** No such file. */
    static final int ENOENT = 2;
    /** Interrupted by a signal. */
    static final int EINTR = 4;
    /** The kernel has no memory. */
    static final int ENOMEM = 12;
    /** The system has no more file descriptors. */
    static final int ENFILE = 23;
    /** This process has no more file descriptors. */
    static final int EMFILE = 24;
    /** The kernel has no buffers. */
    static final int ENOBUFS = 105;
    /** Another process has the lock. */
    static final int EACCES = 13;
    /** Nothing to read, or no room. Error numbers: errno(3), the same on all processors that Java runs on. */
    static final int EAGAIN = 11;
    /** The kernel or the device cannot do it. */
    static final int EIO = 5;
    /** The values do not fit together. */
    static final int EINVAL = 22;
    /** Too long for the interface. */
    static final int EMSGSIZE = 90;
    /** An option that is not known. */
    static final int ENOPROTOOPT = 92;
    /** Not for this kind of socket. */
    static final int EOPNOTSUPP = 95;
    /** The other side has reset a connection before it was accepted. */
    static final int ECONNABORTED = 103;
    /** A fault of the protocol. */
    static final int EPROTO = 71;
    /** The network interface is down. */
    static final int ENETDOWN = 100;
    /** The machine is in no network. */
    static final int ENONET = 64;
    /** The other machine is down. */
    static final int EHOSTDOWN = 112;
    /** No answer. */
    static final int ETIMEDOUT = 110;
    /** No route. */
    static final int ENETUNREACH = 101;
    /** Host unreachable, as the last router reports. */
    static final int EHOSTUNREACH = 113;
    /** It is under way. */
    static final int EINPROGRESS = 115;
    /** Nobody listens there. */
    static final int ECONNREFUSED = 111;
    /** The other side has closed the connection. */
    static final int ECONNRESET = 104;
    /** An address of another process. */
    static final int EADDRINUSE = 98;
    /** No address of this machine. */
    static final int EADDRNOTAVAIL = 99;

    private static final Linker LINKER = Linker.nativeLinker();

    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle PPOLL = plain("ppoll", JAVA_INT, ADDRESS, JAVA_LONG,
            ADDRESS, ADDRESS);
    private static final MethodHandle PPOLL_AGAIN = handle("ppoll", JAVA_INT, ADDRESS, JAVA_LONG,
            ADDRESS, ADDRESS);
    private static final MethodHandle EPOLL_CREATE1 = handle("epoll_create1", JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CTL = handle("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT, ADDRESS);
    private static final MethodHandle EPOLL_WAIT = plain("epoll_wait", JAVA_INT, JAVA_INT,
            JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_WAIT_AGAIN = handle("epoll_wait", JAVA_INT, JAVA_INT,
            JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD = handle("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle READ = plain("read", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG);
    private static final MethodHandle WRITE = plain("write", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG);
    private static final MethodHandle WRITE_AGAIN = handle("write", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG);
    private static final MethodHandle PREAD = handle("pread", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PWRITE = handle("pwrite", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG, JAVA_LONG);
    private static final MethodHandle OPEN = LINKER.downcallHandle(find("open"),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), ErrorNumber.CAPTURE,
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCNTL_NUMBER = LINKER.downcallHandle(find("fcntl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), ErrorNumber.CAPTURE,
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCNTL_STRUCTURE = LINKER.downcallHandle(find("fcntl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), ErrorNumber.CAPTURE,
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = plain("close", JAVA_INT, JAVA_INT);

    private final ErrorNumber error;

    /** @param arena allocates the memory for the error number */
    LinuxCalls(Arena arena) {
        error = new ErrorNumber(arena);
    }

    /** {@return a function whose error number is captured into the memory that its first parameter names} */
    static MethodHandle handle(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return LINKER.downcallHandle(find(function), FunctionDescriptor.of(result, parameters),
                ErrorNumber.CAPTURE);
    }

    /** {@return a function whose error number is lost} */
    static MethodHandle plain(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return LINKER.downcallHandle(find(function), FunctionDescriptor.of(result, parameters));
    }

    private static MemorySegment find(String function) {
        return LINKER.defaultLookup().find(function).orElseThrow(
                () -> new UnsatisfiedLinkError("the C library has no " + function));
    }

    /** socket(2). {@return the file descriptor} */
    int socket(int family, int type, int protocol) {
        try {
            return error.outcome((int) SOCKET.invokeExact(error.state(), family, type, protocol));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ppoll(2) with the signal mask as it is. {@return how many descriptors are ready} */
    int ppoll(MemorySegment descriptors, long count, MemorySegment timeout) {
        try {
            return (int) PPOLL.invokeExact(descriptors, count, timeout, MemorySegment.NULL);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** As {@link #ppoll}. {@return how many, or why it fails} */
    int ppollOrFail(MemorySegment descriptors, long count, MemorySegment timeout) {
        try {
            return error.outcome((int) PPOLL_AGAIN.invokeExact(error.state(), descriptors, count,
                    timeout, MemorySegment.NULL));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_wait(2) for at most one event. {@return how many, or why it fails} */
    int epollWaitOrFail(int epoll, long event) {
        try {
            return error.outcome(
                    (int) EPOLL_WAIT_AGAIN.invokeExact(error.state(), epoll, event, 1, 0));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_create1(2). */
    int epollCreate1(int flags) {
        try {
            return error.outcome((int) EPOLL_CREATE1.invokeExact(error.state(), flags));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_ctl(2). */
    int epollCtl(int epoll, int operation, int descriptor, MemorySegment event) {
        try {
            return error.outcome((int) EPOLL_CTL.invokeExact(error.state(), epoll, operation,
                    descriptor, event));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * epoll_wait(2) with time-out 0. The events are named by their address, because a segment of a shared arena would be
     * marked as in use at each call; the caller knows that the memory is there. {@return the number of events}
     */
    static int epollWait(int epoll, long events, int most) {
        return epollWait(epoll, events, most, 0);
    }

    /** As above, with another time-out; -1 waits until there is an event, or a signal. */
    static int epollWait(int epoll, long events, int most, int timeoutMs) {
        try {
            return (int) EPOLL_WAIT.invokeExact(epoll, events, most, timeoutMs);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** eventfd(2). */
    int eventfd(int value, int flags) {
        try {
            return error.outcome((int) EVENTFD.invokeExact(error.state(), value, flags));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** read(2). */
    long read(int descriptor, MemorySegment into) {
        try {
            return (long) READ.invokeExact(descriptor, into, into.byteSize());
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** write(2). */
    long write(int descriptor, MemorySegment from) {
        try {
            return (long) WRITE.invokeExact(descriptor, from, from.byteSize());
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** As {@link #write}. {@return the bytes written, or why not} */
    long writeOrFail(int descriptor, MemorySegment from) {
        try {
            long written = (long) WRITE.invokeExact(descriptor, from, from.byteSize());
            return written >= 0
                    ? written
                    : error.outcome((long) WRITE_AGAIN.invokeExact(error.state(), descriptor, from,
                            from.byteSize()));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** pread(2). {@return the bytes read} */
    long pread(int descriptor, MemorySegment into, long at) {
        try {
            return error.outcome(
                    (long) PREAD.invokeExact(error.state(), descriptor, into, into.byteSize(), at));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** pwrite(2). {@return the bytes written} */
    long pwrite(int descriptor, MemorySegment from, long at) {
        try {
            return error.outcome(
                    (long) PWRITE.invokeExact(error.state(), descriptor, from, from.byteSize(),
                            at));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** open(2). {@return the file descriptor} */
    int open(MemorySegment path, int flags, int mode) {
        try {
            return error.outcome((int) OPEN.invokeExact(error.state(), path, flags, mode));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** fcntl(2) with a number. */
    int fcntl(int descriptor, int command, int argument) {
        try {
            return error.outcome(
                    (int) FCNTL_NUMBER.invokeExact(error.state(), descriptor, command, argument));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** fcntl(2) with a structure. */
    int fcntl(int descriptor, int command, MemorySegment argument) {
        try {
            return error.outcome((int) FCNTL_STRUCTURE.invokeExact(error.state(), descriptor,
                    command, argument));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** close(2). For any thread. {@return -1 if it fails} */
    static int close(int descriptor) {
        try {
            return (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Calls throw nothing; only memory of a closed arena causes a {@link RuntimeException}. */
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
