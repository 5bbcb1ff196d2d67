package io.rdma4j.softnic.network.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;

import static io.rdma4j.softnic.network.linux.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.SocketOption.SO_ERROR;
import static io.rdma4j.softnic.network.linux.SocketOption.SO_LINGER;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The C library's functions for non-blocking TCP sockets, one method for each function. A call that fails returns the
 * negated error number. One thread at a time may use an instance.
 */
final class TcpCalls {
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    /** A broken connection is an error number and no signal. */
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final long SIOCOUTQ = 0x5411;
    private static final int SHUT_WR = 1;

    private static final MethodHandle GETSOCKNAME = LinuxCalls.handle("getsockname", JAVA_INT,
            JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle GETPEERNAME = LinuxCalls.handle("getpeername", JAVA_INT,
            JAVA_INT, ADDRESS, ADDRESS);
    // The address of the bytes is a number: a segment made for the call would be garbage.
    private static final MethodHandle RECV = LinuxCalls.plain("recv", JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECV_AGAIN = LinuxCalls.handle("recv", JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SEND = LinuxCalls.plain("send", JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SEND_AGAIN = LinuxCalls.handle("send", JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SHUTDOWN = LinuxCalls.handle("shutdown", JAVA_INT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle IOCTL = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("ioctl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS),
            Linker.Option.firstVariadicArg(2));

    private final LinuxCalls calls;
    private final ErrorNumber error;
    private final MemorySegment name;
    private final MemorySegment nameLength;
    private final MemorySegment value;
    private final MemorySegment linger;

    TcpCalls(Arena arena) {
        calls = new LinuxCalls(arena);
        error = new ErrorNumber(arena);
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        nameLength = arena.allocate(JAVA_INT);
        value = arena.allocate(JAVA_INT);
        linger = arena.allocate(2 * JAVA_INT.byteSize(), 4);
        linger.set(JAVA_INT, 0, 1);
    }

    /** socket(2). {@return the file descriptor} */
    int socket(int family) {
        return calls.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    /** bind(2). */
    int bind(int socket, InetSocketAddress address) {
        return SocketCalls.bind(error, socket, name, SocketAddress.write(name, address));
    }

    /** listen(2). */
    int listen(int socket, int backlog) {
        return SocketCalls.listen(error, socket, backlog);
    }

    /** connect(2). */
    int connect(int socket, InetSocketAddress to) {
        return SocketCalls.connect(error, socket, name, SocketAddress.write(name, to));
    }

    /** accept4(2). {@return the file descriptor} */
    int accept(int socket) {
        return SocketCalls.accept(error, socket, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }

    /** getsockname(2). {@return the address and port of this side} */
    InetSocketAddress local(int socket) throws LinuxSocket.Refused {
        return name(GETSOCKNAME, "getsockname", socket);
    }

    /** getpeername(2). {@return the address and port of the other side} */
    InetSocketAddress remote(int socket) throws LinuxSocket.Refused {
        return name(GETPEERNAME, "getpeername", socket);
    }

    private InetSocketAddress name(MethodHandle function, String called, int socket)
            throws LinuxSocket.Refused {
        nameLength.set(JAVA_INT, 0, SocketAddress.MAX_LENGTH);
        int result;
        try {
            result = error.outcome(
                    (int) function.invokeExact(error.state(), socket, name, nameLength));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
        LinuxSocket.Refused.unlessDone(result, called);
        return SocketAddress.read(name);
    }

    /** setsockopt(2) with a number. */
    int setOption(int socket, int level, int option, int newValue) {
        value.set(JAVA_INT, 0, newValue);
        return SocketCalls.setOption(error, socket, level, option, value);
    }

    /** Lets close(2) reset the connection. */
    int resetWhenClosed(int socket) {
        return SocketCalls.setOption(error, socket, SOL_SOCKET, SO_LINGER, linger);
    }

    /** {@return the pending error number of a connection, 0 if there is none} */
    int pendingError(int socket) {
        int result = SocketCalls.option(error, socket, SOL_SOCKET, SO_ERROR, value, nameLength);
        return result < 0 ? -result : value.get(JAVA_INT, 0);
    }

    /**
     * recv(2) without the error number. {@return the number of bytes, 0 at the end, -1 if there are none now or the call
     * fails}
     */
    static long receive(int socket, long address, long most) {
        try {
            return (long) RECV.invokeExact(socket, address, most, 0);
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** recv(2). {@return the bytes, 0 at the end} */
    long receiveOrFail(int socket, long address, long most) {
        try {
            return error.outcome(
                    (long) RECV_AGAIN.invokeExact(error.state(), socket, address, most, 0));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** send(2). {@return the number of bytes accepted} */
    long send(int socket, long address, long length) {
        try {
            long sent = (long) SEND.invokeExact(socket, address, length, MSG_NOSIGNAL);
            return sent >= 0
                    ? sent
                    : error.outcome((long) SEND_AGAIN.invokeExact(error.state(), socket, address,
                            length, MSG_NOSIGNAL));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** shutdown(2) of the writing direction. */
    int finish(int socket) {
        try {
            return error.outcome((int) SHUTDOWN.invokeExact(error.state(), socket, SHUT_WR));
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }

    /** ioctl(2) {@code SIOCOUTQ}. {@return the number of sent bytes that are not acknowledged, -1 if the call fails} */
    int unacknowledged(int socket) {
        try {
            int result = (int) IOCTL.invokeExact(socket, SIOCOUTQ, value);
            return result < 0 ? -1 : value.get(JAVA_INT, 0);
        } catch (Throwable t) {
            throw LinuxCalls.unexpected(t);
        }
    }
}
