// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.udp;

import io.rdma4j.benchmarks.socket.LoopbackSocket;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** An IPv4 UDP socket on loopback by Linux's own calls, which never waits. One thread. */
final class UdpSocket implements AutoCloseable {
    /** What a call returns if there is nothing to do. */
    static final int NOTHING = -1;

    /** Bytes of {@code struct msghdr}. */
    static final long MESSAGE_LENGTH = 56;
    /** Bytes of {@code struct iovec}. */
    static final long IOVEC_LENGTH = 16;

    /** Option of the level of UDP: the length of each piece of a message that is cut. */
    static final int UDP_SEGMENT = 103;
    /** Option of the level of UDP: bring up together what arrives together. */
    static final int UDP_GRO = 104;
    static final int SOL_UDP = 17;

    private static final MethodHandle SENDMSG = LoopbackSocket.handle("sendmsg", JAVA_LONG,
            JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECVMSG = LoopbackSocket.handle("recvmsg", JAVA_LONG,
            JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SENDTO = LoopbackSocket.handle("sendto", JAVA_LONG, JAVA_INT,
            ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECVFROM = LoopbackSocket.handle("recvfrom", JAVA_LONG,
            JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS);

    private final LoopbackSocket socket;
    private final int descriptor;

    /** Binds to any port. */
    UdpSocket() throws IOException {
        socket = LoopbackSocket.open(LoopbackSocket.SOCK_DGRAM | LoopbackSocket.SOCK_NONBLOCK);
        descriptor = socket.descriptor();
        socket.bind();
    }

    /** {@return the address of a port of this machine} Valid until this is closed. */
    MemorySegment loopback(int port) {
        return socket.loopback(port);
    }

    int port() throws IOException {
        return socket.port();
    }

    void option(int level, int option, int value) throws IOException {
        socket.option(level, option, value);
    }

    /** sendmsg(2). {@return the bytes, or {@link #NOTHING}} */
    long sendmsg(MemorySegment message) {
        try {
            return (long) SENDMSG.invokeExact(descriptor, message, 0);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** recvmsg(2). {@return the bytes, or {@link #NOTHING}} */
    long recvmsg(MemorySegment message) {
        try {
            return (long) RECVMSG.invokeExact(descriptor, message, 0);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** sendto(2). {@return the bytes, or {@link #NOTHING}} */
    long sendto(MemorySegment bytes, MemorySegment address) {
        try {
            return (long) SENDTO.invokeExact(descriptor, bytes, bytes.byteSize(), 0, address,
                    LoopbackSocket.ADDRESS_LENGTH);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** recvfrom(2) without asking from whom. {@return the bytes, or {@link #NOTHING}} */
    long recvfrom(MemorySegment into) {
        try {
            return (long) RECVFROM.invokeExact(descriptor, into, into.byteSize(), 0,
                    MemorySegment.NULL, MemorySegment.NULL);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
