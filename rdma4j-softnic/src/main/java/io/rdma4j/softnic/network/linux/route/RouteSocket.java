// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.route;

import io.rdma4j.softnic.network.linux.calls.CFunction;
import io.rdma4j.softnic.network.linux.calls.ErrorNumber;
import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketCalls;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * A socket by which Linux lists its network interfaces and their addresses, and reports changes of them. Source: netlink(7),
 * rtnetlink(7).
 *
 * <p>One thread at a time lists and takes notifications; another may wait, and any may wake it.
 */
public final class RouteSocket implements AutoCloseable {
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int NETLINK_ROUTE = 0;
    /** RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR. */
    private static final int GROUPS = 0x1 | 0x10 | 0x100;
    /** struct sockaddr_nl: family, pad, port, groups. */
    private static final int NAME_LENGTH = 12;
    private static final int NAME_GROUPS = 8;

    /** struct nlmsghdr: length, type, flags, sequence number, port. */
    private static final int HEADER = 16;
    private static final int TYPE = 4;
    private static final int FLAGS = 6;
    private static final int SEQUENCE = 8;
    private static final int ALIGNMENT = 4;
    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;
    private static final int NLM_F_REQUEST_AND_DUMP = 0x301;
    private static final int NLM_F_DUMP_INTR = 0x10;
    private static final int RTM_NEWLINK = 16;
    private static final int RTM_GETLINK = 18;
    private static final int RTM_NEWADDR = 20;
    private static final int RTM_GETADDR = 22;
    /** struct ifinfomsg and ifaddrmsg, of any family. */
    private static final int LINK_BODY = 16;
    private static final int ADDRESS_BODY = 8;
    /** What the kernel fills at most at a time. Source: netlink(7). */
    private static final int BUFFER = 32 << 10;

    /** Apart, so that {@link #obstacle} makes no restricted call of the JVM. */
    private static final class Functions {
        static final CFunction RECV = CFunction.ofLong("recv");
    }

    private final Arena arena;
    private final LinuxCalls calls;
    private final ErrorNumber error;
    private final int descriptor;
    private final SocketPoller poller;
    private final MemorySegment request;
    private final MemorySegment buffer;
    private int sequence;
    /** A list may lack something, or a notification was taken while it was made. */
    private boolean hasMissed;

    private RouteSocket(Arena arena, int descriptor) throws LinuxSocket.Refused {
        this.arena = arena;
        this.descriptor = descriptor;
        calls = new LinuxCalls(arena);
        error = new ErrorNumber(arena);
        request = arena.allocate(HEADER + LINK_BODY, 8);
        buffer = arena.allocate(BUFFER, 8);
        poller = new SocketPoller(arena);
        poller.watch(descriptor);
    }

    /** {@return why no such socket works here, or null if it may} */
    public static @Nullable String obstacle() {
        return LinuxAccess.obstacle();
    }

    /**
     * {@return a socket that is told of changes from now on}
     *
     * @throws IOException if the system refuses one
     */
    public static RouteSocket open() throws IOException {
        Arena arena = Arena.ofShared();
        int descriptor = -1;
        try {
            descriptor = LinuxSocket.Refused.unlessDone(new LinuxCalls(arena).socket(AF_NETLINK,
                    SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE), "socket");
            bind(arena, descriptor);
            RouteSocket opened = new RouteSocket(arena, descriptor);
            String refusal = opened.poller.refusal();
            if (refusal == null) {
                return opened;
            }
            opened.close();
            throw new IOException("the system lets nothing be waited for: " + refusal);
        } catch (LinuxSocket.Refused e) {
            giveUp(arena, descriptor);
            throw new IOException("the system does not tell its interfaces: " + e.getMessage(), e);
        } catch (OutOfMemoryError none) {
            giveUp(arena, descriptor);
            throw new IOException("there is no native memory for a socket", none);
        }
    }

    private static void bind(Arena arena, int descriptor) throws LinuxSocket.Refused {
        MemorySegment name = arena.allocate(NAME_LENGTH, 8);
        name.set(JAVA_SHORT, 0, (short) AF_NETLINK);
        name.set(JAVA_INT, NAME_GROUPS, GROUPS);
        LinuxSocket.Refused.unlessDone(
                SocketCalls.bind(new ErrorNumber(arena), descriptor, name, NAME_LENGTH), "bind");
    }

    private static void giveUp(Arena arena, int descriptor) {
        if (descriptor >= 0) {
            LinuxCalls.close(descriptor);
        }
        arena.close();
    }

    // ---------------------------------------------------------------- listing

    /**
     * Lists the network interfaces.
     *
     * @param each gets the body of a RTM_NEWLINK message for each, valid during the call
     */
    public void listLinks(Consumer<ByteBuffer> each) throws IOException {
        list(RTM_GETLINK, LINK_BODY, RTM_NEWLINK, each);
    }

    /**
     * Lists the addresses of all interfaces.
     *
     * @param each gets the body of a RTM_NEWADDR message for each, valid during the call
     */
    public void listAddresses(Consumer<ByteBuffer> each) throws IOException {
        list(RTM_GETADDR, ADDRESS_BODY, RTM_NEWADDR, each);
    }

    private void list(int type, int bodyLength, int answerType, Consumer<ByteBuffer> each)
            throws IOException {
        sequence++;
        request.fill((byte) 0);
        request.set(JAVA_INT, 0, HEADER + bodyLength);
        request.set(JAVA_SHORT, TYPE, (short) type);
        request.set(JAVA_SHORT, FLAGS, (short) NLM_F_REQUEST_AND_DUMP);
        request.set(JAVA_INT, SEQUENCE, sequence);
        long sent = calls.writeOrFail(descriptor, request.asSlice(0, HEADER + bodyLength));
        if (sent < 0) {
            throw refused((int) -sent, "write");
        }
        while (!takePart(answerType, each)) {
            // The kernel gives the list in parts.
        }
    }

    /** Takes a part of the list. {@return whether it was the last} */
    private boolean takePart(int answerType, Consumer<ByteBuffer> each) throws IOException {
        long received = receive();
        if (received == -LinuxCalls.ENOBUFS) {
            // Notifications were lost, none of the list.
            miss();
            return false;
        }
        if (received <= 0) {
            throw new IOException("the system broke off listing its interfaces: recv: "
                    + (received == 0 ? "no more bytes" : SystemErrors.text((int) -received)));
        }
        ByteBuffer messages = buffer.asSlice(0, received).asByteBuffer()
                .order(ByteOrder.nativeOrder());
        int at = 0;
        while (received - at >= HEADER) {
            int length = messages.getInt(at);
            if (length < HEADER || length > received - at) {
                throw new IOException("the system lists its interfaces in an unknown form");
            }
            if (messages.getInt(at + SEQUENCE) != sequence) {
                miss();
            } else if (takes(messages, at, length, answerType, each)) {
                return true;
            }
            at += (length + ALIGNMENT - 1) & -ALIGNMENT;
        }
        return false;
    }

    /** Takes a message of the list. {@return whether it ends the list} */
    private boolean takes(ByteBuffer messages, int at, int length, int answerType,
            Consumer<ByteBuffer> each) throws IOException {
        if ((messages.getShort(at + FLAGS) & NLM_F_DUMP_INTR) != 0) {
            // Something has changed meanwhile, and may be missing.
            miss();
        }
        int type = Short.toUnsignedInt(messages.getShort(at + TYPE));
        if (type == NLMSG_ERROR) {
            throw refused(length < HEADER + Integer.BYTES ? LinuxCalls.EIO
                    : -messages.getInt(at + HEADER), "netlink request");
        }
        if (type == answerType) {
            each.accept(messages.slice(at + HEADER, length - HEADER).order(messages.order()));
        }
        return type == NLMSG_DONE;
    }

    private static IOException refused(int errno, String call) {
        LinuxSocket.Refused cause = new LinuxSocket.Refused(errno, call);
        return new IOException("the system does not list its interfaces: " + cause.getMessage(),
                cause);
    }

    /** Whoever waits, or begins to, shall look again. */
    private void miss() {
        hasMissed = true;
        poller.wake();
    }

    /** recv(2). {@return the bytes, or the negated error number} */
    private long receive() {
        return Functions.RECV.call(error, descriptor, CFunction.address(buffer), buffer.byteSize(),
                0);
    }

    // ---------------------------------------------------------------- changes

    /** {@return whether something may have changed since the last call} */
    public boolean hasNotifications() {
        boolean has = hasMissed;
        hasMissed = false;
        while (true) {
            long received = receive();
            if (received <= 0 && received != -LinuxCalls.ENOBUFS) {
                return has;
            }
            has = true;
        }
    }

    /**
     * Waits until there are notifications, or a thread calls {@link #wake}.
     *
     * @param mostNs {@link Long#MAX_VALUE} to wait without limit
     */
    public void await(long mostNs) {
        poller.await(mostNs);
    }

    /** Ends a wait under way, or the next one. */
    public void wake() {
        poller.wake();
    }

    /** No thread waits any more. */
    @Override
    public void close() {
        poller.close();
        LinuxCalls.close(descriptor);
        arena.close();
    }
}
