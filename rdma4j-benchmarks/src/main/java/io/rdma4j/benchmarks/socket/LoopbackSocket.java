// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.socket;

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
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** An IPv4 socket on loopback by Linux's own calls. One thread. */
public final class LoopbackSocket implements AutoCloseable {
    /** Of {@code socket(2)}. */
    public static final int SOCK_STREAM = 1;
    /** Of {@code socket(2)}. */
    public static final int SOCK_DGRAM = 2;
    /** Of {@code socket(2)}, with a type: no call waits. */
    public static final int SOCK_NONBLOCK = 0x800;
    /** Bytes of an address. */
    public static final int ADDRESS_LENGTH = 16;

    private static final int AF_INET = 2;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle BIND = handle("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle LISTEN = handle("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle CONNECT = handle("connect", JAVA_INT, JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle ACCEPT4 = handle("accept4", JAVA_INT, JAVA_INT, ADDRESS,
            ADDRESS, JAVA_INT);
    private static final MethodHandle SETSOCKOPT = handle("setsockopt", JAVA_INT, JAVA_INT,
            JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = handle("getsockname", JAVA_INT, JAVA_INT,
            ADDRESS, ADDRESS);
    private static final MethodHandle CLOSE = handle("close", JAVA_INT, JAVA_INT);

    private final Arena arena = Arena.ofShared();
    private final int descriptor;

    private LoopbackSocket(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Opens one.
     *
     * @param type {@link #SOCK_STREAM} or {@link #SOCK_DGRAM}, with {@link #SOCK_NONBLOCK} or without
     */
    public static LoopbackSocket open(int type) throws IOException {
        try {
            return new LoopbackSocket(
                    check("socket", (int) SOCKET.invokeExact(AF_INET, type, 0)));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    /** {@return a function of the system's library} */
    public static MethodHandle handle(String function, MemoryLayout result,
            MemoryLayout... parameters) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(function),
                FunctionDescriptor.of(result, parameters));
    }

    /** {@return the file descriptor} */
    public int descriptor() {
        return descriptor;
    }

    /** {@return the address of a port of this machine} Valid until this is closed. */
    public MemorySegment loopback(int port) {
        MemorySegment address = arena.allocate(ADDRESS_LENGTH, 8);
        address.set(JAVA_SHORT, 0, (short) AF_INET);
        address.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) port);
        address.set(JAVA_BYTE, 4, (byte) 127);
        address.set(JAVA_BYTE, 7, (byte) 1);
        return address;
    }

    /** Binds to any port. */
    public void bind() throws IOException {
        try {
            check("bind", (int) BIND.invokeExact(descriptor, loopback(0), ADDRESS_LENGTH));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    /** {@return the port it is bound to} */
    public int port() throws IOException {
        MemorySegment address = arena.allocate(ADDRESS_LENGTH, 8);
        MemorySegment length = arena.allocateFrom(JAVA_INT, ADDRESS_LENGTH);
        try {
            check("getsockname", (int) GETSOCKNAME.invokeExact(descriptor, address, length));
        } catch (Throwable t) {
            throw failure(t);
        }
        return address.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2) & 0xffff;
    }

    /** Waits for connections. */
    public void listen() throws IOException {
        try {
            check("listen", (int) LISTEN.invokeExact(descriptor, 1));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    /** Connects to a port of this machine. */
    public void connect(int port) throws IOException {
        try {
            check("connect", (int) CONNECT.invokeExact(descriptor, loopback(port),
                    ADDRESS_LENGTH));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    /**
     * Takes a connection.
     *
     * @param flags 0 or {@link #SOCK_NONBLOCK}
     */
    public LoopbackSocket accept(int flags) throws IOException {
        try {
            return new LoopbackSocket(check("accept4", (int) ACCEPT4.invokeExact(descriptor,
                    MemorySegment.NULL, MemorySegment.NULL, flags)));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    /** Sets an option that is a number. */
    public void option(int level, int option, int value) throws IOException {
        try {
            check("setsockopt", (int) SETSOCKOPT.invokeExact(descriptor, level, option,
                    arena.allocateFrom(JAVA_INT, value), 4));
        } catch (Throwable t) {
            throw failure(t);
        }
    }

    private static int check(String call, int result) throws IOException {
        if (result < 0) {
            throw new IOException(call + " failed");
        }
        return result;
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
