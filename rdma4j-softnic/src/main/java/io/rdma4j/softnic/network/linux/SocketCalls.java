package io.rdma4j.softnic.network.linux;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The C library's functions for sockets of any kind. A call that fails returns the negated error number. For any
 * thread.
 */
final class SocketCalls {
    private static final MethodHandle BIND = LinuxCalls.handle("bind", JAVA_INT, JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle SETSOCKOPT = LinuxCalls.handle("setsockopt", JAVA_INT,
            JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle LISTEN = LinuxCalls.handle("listen", JAVA_INT, JAVA_INT,
            JAVA_INT);

    /** Calls that a device is opened without: to make a handle takes milliseconds in a JVM that has just started. */
    private static final class Later {
        static final MethodHandle GETSOCKOPT = LinuxCalls.handle("getsockopt", JAVA_INT, JAVA_INT,
                JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
        static final MethodHandle CONNECT = LinuxCalls.handle("connect", JAVA_INT, JAVA_INT,
                ADDRESS, JAVA_INT);
        static final MethodHandle ACCEPT4 = LinuxCalls.handle("accept4", JAVA_INT, JAVA_INT,
                ADDRESS, ADDRESS, JAVA_INT);
    }

    /** To pass open files on. */
    private static final class Passing {
        static final MethodHandle SENDMSG = LinuxCalls.handle("sendmsg", JAVA_LONG, JAVA_INT,
                ADDRESS, JAVA_INT);
        static final MethodHandle RECVMSG = LinuxCalls.handle("recvmsg", JAVA_LONG, JAVA_INT,
                ADDRESS, JAVA_INT);
    }

    private SocketCalls() {}

    /**
     * bind(2).
     *
     * @param length the bytes of the address
     */
    static int bind(ErrorNumber error, int descriptor, MemorySegment address, int length) {
        try {
            return error.outcome(
                    (int) BIND.invokeExact(error.state(), descriptor, address, length));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** setsockopt(2). */
    static int setOption(ErrorNumber error, int descriptor, int level, int option,
            MemorySegment value) {
        try {
            return error.outcome((int) SETSOCKOPT.invokeExact(error.state(), descriptor, level,
                    option, value, (int) value.byteSize()));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /**
     * getsockopt(2).
     *
     * @param value receives it
     * @param length room for an {@code int}
     */
    static int option(ErrorNumber error, int descriptor, int level, int option,
            MemorySegment value, MemorySegment length) {
        length.set(JAVA_INT, 0, (int) value.byteSize());
        try {
            return error
                    .outcome((int) Later.GETSOCKOPT.invokeExact(error.state(), descriptor, level,
                            option, value, length));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** listen(2). */
    static int listen(ErrorNumber error, int descriptor, int backlog) {
        try {
            return error.outcome((int) LISTEN.invokeExact(error.state(), descriptor, backlog));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** connect(2). */
    static int connect(ErrorNumber error, int descriptor, MemorySegment address, int length) {
        try {
            return error.outcome(
                    (int) Later.CONNECT.invokeExact(error.state(), descriptor, address, length));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** accept4(2). {@return the file descriptor} */
    static int accept(ErrorNumber error, int descriptor, int flags) {
        try {
            return error.outcome((int) Later.ACCEPT4.invokeExact(error.state(), descriptor,
                    MemorySegment.NULL, MemorySegment.NULL, flags));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** sendmsg(2). Not for packets: {@link LinuxSocket} has a call that makes no garbage. */
    static long send(ErrorNumber error, int descriptor, MemorySegment message, int flags) {
        try {
            return error.outcome(
                    (long) Passing.SENDMSG.invokeExact(error.state(), descriptor, message, flags));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** recvmsg(2). Not for packets either. */
    static long receive(ErrorNumber error, int descriptor, MemorySegment message, int flags) {
        try {
            return error.outcome(
                    (long) Passing.RECVMSG.invokeExact(error.state(), descriptor, message, flags));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }
}
