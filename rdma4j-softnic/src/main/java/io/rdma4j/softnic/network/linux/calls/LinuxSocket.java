// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.linux.calls.CFunction.address;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_UDP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_ATTACH_REUSEPORT_CBPF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_GRO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_SEGMENT;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * A UDP socket that does not block, by the C library's calls. For one thread at a time; after it is closed every call is
 * refused.
 */
public final class LinuxSocket implements Outlet {
    private static final int EBADF = 9;
    private static final int MSG_ERRQUEUE = 0x2000;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;

    private static final CFunction SENDMSG = CFunction.ofLong("sendmsg");
    private static final CFunction SENDMMSG = CFunction.ofInt("sendmmsg");
    private static final CFunction RECVMSG = CFunction.ofLong("recvmsg");

    private final ErrorNumber error;
    private final MemorySegment value;
    private int descriptor;

    private LinuxSocket(ErrorNumber error, Arena arena, int descriptor) {
        this.error = error;
        value = arena.allocate(JAVA_INT);
        this.descriptor = descriptor;
    }

    /** {@return a new socket of an address family} */
    public static LinuxSocket open(int family, Arena arena) throws Refused {
        int descriptor = new LinuxCalls(arena).socket(family,
                SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        return new LinuxSocket(new ErrorNumber(arena), arena,
                Refused.unlessDone(descriptor, "socket"));
    }

    /** {@return a new socket of IPv6, null if the process has none} It may be switched off, or a sandbox without it. */
    public static @Nullable LinuxSocket openIpv6(Arena arena) throws Refused {
        try {
            return open(SocketAddress.AF_INET6, arena);
        } catch (Refused e) {
            if (e.errno() == Errno.EAFNOSUPPORT.number()) {
                return null;
            }
            throw e;
        }
    }

    /** A call failed. The message names the call, and the system's error in words and by its name. */
    public static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        private final int errno;
        private final String call;

        public Refused(int errno, String call) {
            super(call + ": " + SystemErrors.text(errno));
            this.errno = errno;
            this.call = call;
        }

        /** {@return the result of a call, unless it is an error} */
        public static int unlessDone(int result, String call) throws Refused {
            if (result < 0) {
                throw new Refused(-result, call);
            }
            return result;
        }

        public int errno() {
            return errno;
        }

        /**
         * {@return it as the API tells it, with the system's own error}
         *
         * @param what what could not be had, before which the operation stands and behind which the call follows
         */
        public RdmaException during(String operation, String what) {
            return RdmaException.ofSystem(errno, operation,
                    what + ": " + call + ": " + SystemErrors.words(errno), this);
        }
    }

    /** Sets an option that has to be set. */
    public void set(int level, int option, int newValue) throws Refused {
        value.set(JAVA_INT, 0, newValue);
        set(level, option, value);
    }

    /** Sets an option without which it works as well. */
    public void trySet(int level, int option, int newValue) {
        value.set(JAVA_INT, 0, newValue);
        setsockopt(error, level, option, value);
    }

    /** Sets an option that has to be set, to a structure. */
    public void set(int level, int option, MemorySegment newValue) throws Refused {
        Refused.unlessDone(setsockopt(error, level, option, newValue),
                "setsockopt " + SocketOption.name(level, option));
    }

    private int setsockopt(ErrorNumber whose, int level, int option, MemorySegment newValue) {
        return SocketCalls.setOption(whose, descriptor, level, option, newValue);
    }

    /** {@return the value of an option} */
    public int get(int level, int option) throws Refused {
        try (Arena call = Arena.ofConfined()) {
            Refused.unlessDone(SocketCalls.option(error, descriptor, level, option, value,
                    call.allocate(JAVA_INT)), "getsockopt " + SocketOption.name(level, option));
            return value.get(JAVA_INT, 0);
        }
    }

    public void connect(MemorySegment address, int length) throws Refused {
        Refused.unlessDone(SocketCalls.connect(error, descriptor, address, length), "connect");
    }

    public void bind(MemorySegment address, int length) throws Refused {
        Refused.unlessDone(SocketCalls.bind(error, descriptor, address, length), "bind");
    }

    /**
     * Sets the program by which the kernel selects a socket among those that share the port. For any thread, while no
     * thread closes the socket: it does not change the error number of the sending thread.
     *
     * @param filter instructions of classic BPF, each a {@code struct sock_filter}
     * @param length how many
     */
    public void steer(MemorySegment filter, int length) throws Refused {
        try (Arena call = Arena.ofConfined()) {
            // struct sock_fprog: unsigned short, pointer.
            MemorySegment structure = call.allocate(16, 8);
            structure.set(JAVA_SHORT, 0, (short) length);
            structure.set(ADDRESS, 8, filter);
            Refused.unlessDone(setsockopt(new ErrorNumber(call), SOL_SOCKET,
                    SO_ATTACH_REUSEPORT_CBPF, structure), "setsockopt SO_ATTACH_REUSEPORT_CBPF");
        }
    }

    /** Checks that bursts can be sent and received in one call. */
    public void requireOffload() throws Refused {
        set(IPPROTO_UDP, UDP_GRO, 1);
        set(IPPROTO_UDP, UDP_SEGMENT, 0);
    }

    @Override
    public long send(MemorySegment message) {
        if (isClosed()) {
            return -EBADF;
        }
        long at = address(message);
        long sent = SENDMSG.call(descriptor, at, 0);
        return sent >= 0 ? sent : SENDMSG.call(error, descriptor, at, 0);
    }

    @Override
    public int send(MemorySegment messages, int count) {
        if (isClosed()) {
            return -EBADF;
        }
        long at = address(messages);
        long sent = SENDMMSG.call(descriptor, at, count, 0);
        return (int) (sent >= 0 ? sent : SENDMMSG.call(error, descriptor, at, count, 0));
    }

    @Override
    public long receiveReport(MemorySegment report) {
        if (isClosed()) {
            return -EBADF;
        }
        return RECVMSG.call(descriptor, address(report), MSG_ERRQUEUE);
    }

    /** {@return the number of bytes received, negative if there are none} */
    public long receive(MemorySegment message) {
        if (isClosed()) {
            return -EBADF;
        }
        return RECVMSG.call(descriptor, address(message), 0);
    }

    /** As {@link #receive}, with the error number. {@return the number of bytes} */
    public long receiveOrFail(MemorySegment message) {
        return SocketCalls.receive(error, descriptor, message, 0);
    }

    boolean isClosed() {
        return descriptor < 0;
    }

    public int descriptor() {
        return descriptor;
    }

    @Override
    public void close() {
        if (descriptor >= 0) {
            LinuxCalls.close(descriptor);
            // The number may soon belong to another file.
            descriptor = -1;
        }
    }
}
