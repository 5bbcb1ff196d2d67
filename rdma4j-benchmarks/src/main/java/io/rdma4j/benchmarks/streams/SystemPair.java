// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.streams;

import io.rdma4j.benchmarks.socket.LoopbackSocket;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * By {@code send}, {@code recv} and {@code epoll_wait} themselves, as a network of streams on Linux's functions would use them.
 *
 * <p>The error number is not captured, so a call that fails is one that has nothing to do; that is what the hot path of such a
 * network would do, too, and it makes this the cheaper way at its best.
 */
final class SystemPair implements StreamPair {
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLLIN = 1;
    /** {@code struct epoll_event}, packed on x86-64 alone. */
    private static final int EVENT_LENGTH = switch (System.getProperty("os.arch", "")) {
        case "amd64", "x86_64" -> 12;
        default -> 16;
    };
    private static final int MOST_EVENTS = 64;

    private static final MethodHandle SEND = LoopbackSocket.handle("send", JAVA_LONG, JAVA_INT,
            ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECV = LoopbackSocket.handle("recv", JAVA_LONG, JAVA_INT,
            ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle EPOLL_CREATE = LoopbackSocket.handle("epoll_create1",
            JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CTL = LoopbackSocket.handle("epoll_ctl", JAVA_INT,
            JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EPOLL_WAIT = LoopbackSocket.handle("epoll_wait", JAVA_INT,
            JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = LoopbackSocket.handle("close", JAVA_INT, JAVA_INT);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment out = arena.allocate(MOST, 64);
    private final MemorySegment in = arena.allocate(MOST, 64);
    private final MemorySegment events = arena.allocate((long) MOST_EVENTS * EVENT_LENGTH, 8);
    private final LoopbackSocket writer;
    private final LoopbackSocket reader;
    private final int writing;
    private final int reading;
    private final int epoll;

    SystemPair() throws IOException {
        try (LoopbackSocket server = LoopbackSocket.open(LoopbackSocket.SOCK_STREAM)) {
            server.bind();
            server.listen();
            // On loopback it stands when connect returns, also before it is accepted.
            writer = LoopbackSocket.open(LoopbackSocket.SOCK_STREAM);
            writer.connect(server.port());
            reader = server.accept(LoopbackSocket.SOCK_NONBLOCK);
        }
        writer.option(IPPROTO_TCP, TCP_NODELAY, 1);
        reader.option(IPPROTO_TCP, TCP_NODELAY, 1);
        writing = writer.descriptor();
        reading = reader.descriptor();
        events.set(JAVA_INT, 0, EPOLLIN);
        try {
            epoll = (int) EPOLL_CREATE.invokeExact(0);
            int result = (int) EPOLL_CTL.invokeExact(epoll, EPOLL_CTL_ADD, reading, events);
            if (epoll < 0 || result < 0) {
                throw new IOException("epoll failed");
            }
        } catch (Throwable t) {
            throw t instanceof IOException exception ? exception : new IOException(t);
        }
    }

    @Override
    public int write(int length) {
        try {
            return (int) (long) SEND.invokeExact(writing, out, (long) length,
                    MSG_DONTWAIT_NOSIGNAL);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @Override
    public int read(int most) {
        try {
            return Math.max(0, (int) (long) RECV.invokeExact(reading, in, (long) most, 0));
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @Override
    public int look() {
        try {
            return (int) EPOLL_WAIT.invokeExact(epoll, events, MOST_EVENTS, 0);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            int _ = (int) CLOSE.invokeExact(epoll);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
        writer.close();
        reader.close();
        arena.close();
    }
}
