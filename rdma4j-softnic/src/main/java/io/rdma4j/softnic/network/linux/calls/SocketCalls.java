// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.linux.calls.CFunction.address;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The C library's functions for sockets of any kind. A call that fails returns the negated error number. For any
 * thread.
 */
public final class SocketCalls {
    private static final CFunction BIND = CFunction.ofInt("bind");
    private static final CFunction SETSOCKOPT = CFunction.ofInt("setsockopt");
    private static final CFunction GETSOCKOPT = CFunction.ofInt("getsockopt");
    private static final CFunction LISTEN = CFunction.ofInt("listen");
    private static final CFunction CONNECT = CFunction.ofInt("connect");
    private static final CFunction ACCEPT4 = CFunction.ofInt("accept4");
    private static final CFunction SENDMSG = CFunction.ofLong("sendmsg");
    private static final CFunction RECVMSG = CFunction.ofLong("recvmsg");

    private SocketCalls() {}

    /**
     * bind(2).
     *
     * @param length the bytes of the address
     */
    public static int bind(ErrorNumber error, int descriptor, MemorySegment address, int length) {
        return (int) BIND.call(error, descriptor, address(address), length);
    }

    /** setsockopt(2). */
    static int setOption(ErrorNumber error, int descriptor, int level, int option,
            MemorySegment value) {
        return (int) SETSOCKOPT.call(error, descriptor, level, option, address(value),
                value.byteSize());
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
        return (int) GETSOCKOPT.call(error, descriptor, level, option, address(value),
                address(length));
    }

    /** listen(2). */
    static int listen(ErrorNumber error, int descriptor, int backlog) {
        return (int) LISTEN.call(error, descriptor, backlog);
    }

    /** connect(2). */
    static int connect(ErrorNumber error, int descriptor, MemorySegment address, int length) {
        return (int) CONNECT.call(error, descriptor, address(address), length);
    }

    /** accept4(2). {@return the file descriptor} */
    static int accept(ErrorNumber error, int descriptor, int flags) {
        return (int) ACCEPT4.call(error, descriptor, 0, 0, flags);
    }

    /** sendmsg(2). Not for packets: {@link LinuxSocket} has a call that makes no garbage. */
    static long send(ErrorNumber error, int descriptor, MemorySegment message, int flags) {
        return SENDMSG.call(error, descriptor, address(message), flags);
    }

    /** recvmsg(2). Not for packets either. */
    static long receive(ErrorNumber error, int descriptor, MemorySegment message, int flags) {
        return RECVMSG.call(error, descriptor, address(message), flags);
    }
}
