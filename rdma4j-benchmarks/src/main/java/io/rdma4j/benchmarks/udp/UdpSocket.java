package io.rdma4j.benchmarks.udp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

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

    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM_NONBLOCK = 2 | 0x800;
    private static final int ADDRESS_LENGTH = 16;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle BIND = handle("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SETSOCKOPT = handle("setsockopt", JAVA_INT, JAVA_INT,
            JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = handle("getsockname", JAVA_INT, JAVA_INT,
            ADDRESS, ADDRESS);
    private static final MethodHandle SENDMSG = handle("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle RECVMSG = handle("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle SENDTO = handle("sendto", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECVFROM = handle("recvfrom", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle CLOSE = handle("close", JAVA_INT, JAVA_INT);

    private final Arena arena = Arena.ofShared();
    private final int descriptor;

    /** Binds to any port. */
    UdpSocket() throws IOException {
        try {
            descriptor = (int) SOCKET.invokeExact(AF_INET, SOCK_DGRAM_NONBLOCK, 0);
            check("socket", descriptor);
            check("bind", (int) BIND.invokeExact(descriptor, loopback(0), ADDRESS_LENGTH));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    private static MethodHandle handle(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(function),
                FunctionDescriptor.of(result, parameters));
    }

    /** {@return the address of a port of this machine} Valid until this is closed. */
    MemorySegment loopback(int port) {
        MemorySegment address = arena.allocate(ADDRESS_LENGTH, 8);
        address.set(JAVA_SHORT, 0, (short) AF_INET);
        address.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) port);
        address.set(JAVA_BYTE, 4, (byte) 127);
        address.set(JAVA_BYTE, 7, (byte) 1);
        return address;
    }

    int port() throws IOException {
        MemorySegment address = arena.allocate(ADDRESS_LENGTH, 8);
        MemorySegment length = arena.allocateFrom(JAVA_INT, ADDRESS_LENGTH);
        try {
            check("getsockname", (int) GETSOCKNAME.invokeExact(descriptor, address, length));
        } catch (Throwable t) {
            throw failure(t);
        }
        return address.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2) & 0xffff;
    }

    void option(int level, int option, int value) throws IOException {
        try {
            check("setsockopt", (int) SETSOCKOPT.invokeExact(descriptor, level, option,
                    arena.allocateFrom(JAVA_INT, value), 4));
        } catch (Throwable t) {
            throw failure(t);
        }
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
                    ADDRESS_LENGTH);
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

    private static void check(String call, int result) throws IOException {
        if (result < 0) {
            throw new IOException(call + " failed");
        }
    }

    private static IOException failure(Throwable thrown) {
        return thrown instanceof IOException exception ? exception : new IOException(thrown);
    }

    @Override
    public void close() throws IOException {
        try {
            check("close", (int) CLOSE.invokeExact(descriptor));
        } catch (Throwable t) {
            throw failure(t);
        }
        arena.close();
    }
}
