// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_PEERCRED;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_RCVTIMEO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_SNDTIMEO;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * A Unix socket whose name is no file but belongs to the network namespace, and which can pass open files on. The system
 * says who is at the other end. Source: unix(7), cmsg(3). Thread safe.
 */
public final class UnixSocket implements AutoCloseable {
    private static final int AF_UNIX = 1;
    /** Messages with limits, in a connection. */
    private static final int SOCK_SEQPACKET = 5;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;
    private static final int BACKLOG = 128;
    private static final int MAX_NAME = 107;
    /** More than any message has. */
    private static final int MAX_DESCRIPTORS = 8;
    private static final int MESSAGE_LENGTH = 24;

    private final int descriptor;

    private UnixSocket(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Who is at the other end, in the numbers of this process's namespaces.
     *
     * @param process 0 if this process cannot see it
     * @param user who it acts for
     */
    public record Peer(int process, int user) {
        /** {@return whether it acts for the same user as this process} */
        public boolean isOfThisUser() {
            try {
                return user == ProcessFiles.effectiveUser();
            } catch (IOException unknown) {
                return false;
            }
        }
    }

    /**
     * What is sent.
     *
     * @param kind what kind of message it is
     * @param number a number
     * @param sender who sends it, as {@link ProcessIdentity} names it
     * @param descriptors open files; the receiver gets descriptors of its own
     */
    public record Message(long kind, int number, long sender, int... descriptors) {
        /** Closes what was received. */
        public void close() {
            for (int each : descriptors) {
                LinuxCalls.close(each);
            }
        }
    }

    /** {@return a socket that was received, or comes from another one} */
    public static UnixSocket of(int descriptor) {
        return new UnixSocket(descriptor);
    }

    /** {@return a socket that listens at a name and does not block, null if another one has the name} */
    public static @Nullable UnixSocket listen(String name) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            UnixSocket socket = open(call, SOCK_NONBLOCK);
            int result = socket.bind(error, call, name);
            if (result >= 0) {
                result = SocketCalls.listen(error, socket.descriptor, BACKLOG);
            }
            if (result < 0) {
                socket.close();
                if (result == -LinuxCalls.EADDRINUSE) {
                    return null;
                }
            }
            LinuxSocket.Refused.unlessDone(result, "bind to an abstract Unix socket");
            return socket;
        }
    }

    private static UnixSocket open(Arena call, int flags) throws LinuxSocket.Refused {
        return new UnixSocket(LinuxSocket.Refused.unlessDone(new LinuxCalls(call).socket(AF_UNIX,
                SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0), "socket of Unix"));
    }

    private int bind(ErrorNumber error, Arena call, String name) {
        MemorySegment address = address(call, name);
        return SocketCalls.bind(error, descriptor, address, (int) address.byteSize());
    }

    /** {@return a {@code struct sockaddr_un}} A name that is no file begins with a zero. */
    private static MemorySegment address(Arena call, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > MAX_NAME) {
            throw new IllegalArgumentException("a name has at most " + MAX_NAME + " characters");
        }
        MemorySegment address = call.allocate(3L + bytes.length, 2);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, address, 3, bytes.length);
        return address;
    }

    /**
     * {@return a connection, whose calls wait as long as this one}
     *
     * @param timeoutNs how long to wait, as long as those who listen have more requests than they can keep
     * @throws LinuxSocket.Refused ECONNREFUSED if nobody listens, EAGAIN if it takes too long
     */
    public static UnixSocket connect(String name, long timeoutNs) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(call);
            UnixSocket socket = open(call, 0);
            // struct timeval.
            MemorySegment timeout = call.allocate(16, 8);
            timeout.set(JAVA_LONG, 0, timeoutNs / 1_000_000_000);
            timeout.set(JAVA_LONG, 8, timeoutNs % 1_000_000_000 / 1000);
            int result = SocketCalls.setOption(error, socket.descriptor, SOL_SOCKET, SO_RCVTIMEO,
                    timeout);
            if (result >= 0) {
                result = SocketCalls.setOption(error, socket.descriptor, SOL_SOCKET, SO_SNDTIMEO,
                        timeout);
            }
            if (result >= 0) {
                MemorySegment address = address(call, name);
                result = SocketCalls.connect(error, socket.descriptor, address,
                        (int) address.byteSize());
            }
            if (result < 0) {
                socket.close();
            }
            LinuxSocket.Refused.unlessDone(result, "connect to an abstract Unix socket");
            return socket;
        }
    }

    /**
     * {@return the next connection, null if there is none}
     *
     * @throws LinuxSocket.Refused if one cannot be accepted, which then waits: EMFILE or ENFILE if there is no descriptor for
     *         it, for example
     */
    @Nullable
    public UnixSocket accept() throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            int accepted = SocketCalls.accept(new ErrorNumber(call), descriptor, SOCK_CLOEXEC);
            return accepted == -LinuxCalls.EAGAIN
                    ? null
                    : new UnixSocket(LinuxSocket.Refused.unlessDone(accepted, "accept4 of Unix"));
        }
    }

    /** {@return who is connected, or whoever began to listen} */
    public Peer peer() throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            // struct ucred: process, user, group.
            MemorySegment peer = call.allocate(12, 4);
            LinuxSocket.Refused.unlessDone(
                    SocketCalls.option(new ErrorNumber(call), descriptor, SOL_SOCKET, SO_PEERCRED,
                            peer, call.allocate(JAVA_INT)),
                    "getsockopt SO_PEERCRED");
            return new Peer(peer.get(JAVA_INT, 0), peer.get(JAVA_INT, 4));
        }
    }

    /** Sends a message, without waiting. */
    public void send(Message message) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment bytes = call.allocate(MESSAGE_LENGTH, 8);
            bytes.set(JAVA_LONG, 0, message.kind);
            bytes.set(JAVA_INT, 8, message.number);
            bytes.set(JAVA_LONG, 16, message.sender);
            int[] passed = message.descriptors;
            MemorySegment control = call.allocate(ControlMessage.space(passed.length), 8);
            ControlMessage.write(control, SOL_SOCKET, SCM_RIGHTS, passed);
            long sent = SocketCalls.send(new ErrorNumber(call), descriptor,
                    header(call, bytes, control), MSG_DONTWAIT | MSG_NOSIGNAL);
            LinuxSocket.Refused.unlessDone((int) sent, "sendmsg of open files");
        }
    }

    private static MemorySegment header(Arena call, MemorySegment bytes, MemorySegment control) {
        MemorySegment header = call.allocate(MessageHeader.LENGTH, 8);
        MemorySegment iovec = call.allocate(MessageHeader.IOVEC_LENGTH, 8);
        MessageHeader.iovec(iovec, 0, bytes.address(), bytes.byteSize());
        MessageHeader.iovecs(header, iovec, 1);
        MessageHeader.control(header, control, control.byteSize());
        return header;
    }

    /**
     * {@return the next message, null if the other side has closed the connection}
     *
     * @throws LinuxSocket.Refused EAGAIN if none arrives in time
     */
    @Nullable
    public Message receive() throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment bytes = call.allocate(MESSAGE_LENGTH, 8);
            MemorySegment control = call.allocate(ControlMessage.space(MAX_DESCRIPTORS), 8);
            MemorySegment header = header(call, bytes, control);
            long received = SocketCalls.receive(new ErrorNumber(call), descriptor, header,
                    MSG_CMSG_CLOEXEC);
            if (received == 0 || received == -LinuxCalls.ECONNRESET) {
                return null;
            }
            LinuxSocket.Refused.unlessDone((int) received, "recvmsg of open files");
            return new Message(bytes.get(JAVA_LONG, 0), bytes.get(JAVA_INT, 8),
                    bytes.get(JAVA_LONG, 16),
                    ControlMessage.numbers(control, MessageHeader.controlLength(header),
                            SOL_SOCKET, SCM_RIGHTS));
        }
    }

    public int descriptor() {
        return descriptor;
    }

    @Override
    public void close() {
        LinuxCalls.close(descriptor);
    }
}
