// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

import static io.rdma4j.softnic.network.linux.calls.CFunction.address;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_ERROR;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_LINGER;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The C library's functions for non-blocking TCP sockets, one method for each function. A call that fails returns the
 * negated error number. One thread at a time may use an instance.
 */
public final class TcpCalls {
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    /** A broken connection is an error number and no signal. */
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final long SIOCOUTQ = 0x5411;
    private static final int SHUT_WR = 1;

    private static final CFunction GETSOCKNAME = CFunction.ofInt("getsockname");
    private static final CFunction GETPEERNAME = CFunction.ofInt("getpeername");
    private static final CFunction RECV = CFunction.ofLong("recv");
    private static final CFunction SEND = CFunction.ofLong("send");
    private static final CFunction SHUTDOWN = CFunction.ofInt("shutdown");
    private static final CFunction IOCTL = CFunction.ofInt("ioctl");

    private final LinuxCalls calls;
    private final ErrorNumber error;
    private final MemorySegment name;
    private final MemorySegment nameLength;
    private final MemorySegment value;
    private final MemorySegment linger;

    public TcpCalls(Arena arena) {
        calls = new LinuxCalls(arena);
        error = new ErrorNumber(arena);
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        nameLength = arena.allocate(JAVA_INT);
        value = arena.allocate(JAVA_INT);
        linger = arena.allocate(2 * JAVA_INT.byteSize(), 4);
        linger.set(JAVA_INT, 0, 1);
    }

    /** socket(2). {@return the file descriptor} */
    public int socket(int family) {
        return calls.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    /** bind(2). */
    public int bind(int socket, InetSocketAddress address) {
        return SocketCalls.bind(error, socket, name, SocketAddress.write(name, address));
    }

    /** listen(2). */
    public int listen(int socket, int backlog) {
        return SocketCalls.listen(error, socket, backlog);
    }

    /** connect(2). */
    public int connect(int socket, InetSocketAddress to) {
        return SocketCalls.connect(error, socket, name, SocketAddress.write(name, to));
    }

    /** accept4(2). {@return the file descriptor} */
    public int accept(int socket) {
        return SocketCalls.accept(error, socket, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }

    /** getsockname(2). {@return the address and port of this side} */
    public InetSocketAddress local(int socket) throws LinuxSocket.Refused {
        return name(GETSOCKNAME, "getsockname", socket);
    }

    /** getpeername(2). {@return the address and port of the other side} */
    public InetSocketAddress remote(int socket) throws LinuxSocket.Refused {
        return name(GETPEERNAME, "getpeername", socket);
    }

    private InetSocketAddress name(CFunction function, String called, int socket)
            throws LinuxSocket.Refused {
        nameLength.set(JAVA_INT, 0, SocketAddress.MAX_LENGTH);
        long result = function.call(error, socket, address(name), address(nameLength));
        LinuxSocket.Refused.unlessDone((int) result, called);
        return SocketAddress.read(name);
    }

    /** setsockopt(2) with a number. */
    public int setOption(int socket, int level, int option, int newValue) {
        value.set(JAVA_INT, 0, newValue);
        return SocketCalls.setOption(error, socket, level, option, value);
    }

    /** Lets close(2) reset the connection. */
    public int resetWhenClosed(int socket) {
        return SocketCalls.setOption(error, socket, SOL_SOCKET, SO_LINGER, linger);
    }

    /** {@return the pending error number of a connection, 0 if there is none} */
    public int pendingError(int socket) {
        int result = SocketCalls.option(error, socket, SOL_SOCKET, SO_ERROR, value, nameLength);
        return result < 0 ? -result : value.get(JAVA_INT, 0);
    }

    /**
     * recv(2) without the error number. {@return the number of bytes, 0 at the end, -1 if there are none now or the call
     * fails}
     */
    public static long receive(int socket, long address, long most) {
        return RECV.call(socket, address, most, 0);
    }

    /** recv(2). {@return the bytes, 0 at the end} */
    public long receiveOrFail(int socket, long address, long most) {
        return RECV.call(error, socket, address, most, 0);
    }

    /** send(2). {@return the number of bytes accepted} */
    public long send(int socket, long address, long length) {
        long sent = SEND.call(socket, address, length, MSG_NOSIGNAL);
        return sent >= 0 ? sent : SEND.call(error, socket, address, length, MSG_NOSIGNAL);
    }

    /** shutdown(2) of the writing direction. */
    public int finish(int socket) {
        return (int) SHUTDOWN.call(error, socket, SHUT_WR);
    }

    /** ioctl(2) {@code SIOCOUTQ}. {@return the number of sent bytes that are not acknowledged, -1 if the call fails} */
    public int unacknowledged(int socket) {
        return IOCTL.call(socket, SIOCOUTQ, address(value)) < 0 ? -1 : value.get(JAVA_INT, 0);
    }
}
