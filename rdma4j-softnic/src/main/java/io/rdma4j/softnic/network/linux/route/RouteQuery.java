// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.route;

import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * Asks the kernel for the route that packets would take. For any thread. Source: netlink(7), rtnetlink(7), {@code
 * RTM_GETROUTE}.
 */
final class RouteQuery {
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int NETLINK_ROUTE = 0;

    /** struct nlmsghdr: length, type, flags, sequence number, port. */
    private static final int HEADER = 16;
    private static final int TYPE = 4;
    private static final int FLAGS = 6;
    private static final int NLM_F_REQUEST = 1;
    private static final int RTM_NEWROUTE = 24;
    private static final int RTM_GETROUTE = 26;
    /** struct rtmsg: family, lengths of destination and source, type of service, table, protocol, scope, type, flags. */
    private static final int ROUTE = 12;
    private static final int DESTINATION_LENGTH = 1;
    private static final int SOURCE_LENGTH = 2;
    private static final int ROUTE_TYPE = 7;
    private static final int ROUTE_FLAGS = 8;
    /** Return the entry of the routing table, and none where the kernel only assumes that it is on the link. */
    private static final int RTM_F_FIB_MATCH = 0x2000;
    private static final int RTA_DST = 1;
    private static final int RTA_SRC = 2;
    private static final int RTA_OIF = 4;
    private static final int ATTRIBUTE_HEADER = 4;
    private static final int RTN_UNICAST = 1;
    private static final int ROOM = 4096;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private final LinuxCalls calls;
    private final MemorySegment request;
    private final MemorySegment answer;
    private final int descriptor;

    /**
     * A route.
     *
     * @param isToHost whether it leads to another host, and not to this one, to a group or nowhere
     * @param prefixLength how many bits of the destination decide
     * @param interfaceIndex by which interface, 0 for several
     */
    record Route(boolean isToHost, int prefixLength, int interfaceIndex) {}

    private RouteQuery(LinuxCalls calls, Arena arena, int descriptor) {
        this.calls = calls;
        this.descriptor = descriptor;
        request = arena.allocate(HEADER + ROUTE + 3 * (ATTRIBUTE_HEADER + 16), 8);
        answer = arena.allocate(ROOM, 8);
    }

    /** What is asked about routes. */
    interface Question<T> {
        T ask(RouteQuery routes);
    }

    /** {@return the answer to a question, null if the kernel answers none} */
    static <T> @Nullable T ask(Question<T> question) {
        try (Arena arena = Arena.ofConfined()) {
            LinuxCalls calls = new LinuxCalls(arena);
            int descriptor = calls.socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    NETLINK_ROUTE);
            if (descriptor < 0) {
                return null;
            }
            try {
                return question.ask(new RouteQuery(calls, arena, descriptor));
            } finally {
                LinuxCalls.close(descriptor);
            }
        }
    }

    /**
     * {@return the route from a local address to another one, null if there is none}
     *
     * @param interfaceIndex of the interface that it has to leave by, 0 for any
     */
    @Nullable
    Route find(Gid source, Gid destination, int interfaceIndex) {
        int length = write(source, destination, interfaceIndex);
        if (calls.writeOrFail(descriptor, request.asSlice(0, length)) < 0) {
            return null;
        }
        // The kernel has answered before the call returns.
        long received = TcpCalls.receive(descriptor, answer.address(), ROOM);
        return received < HEADER + ROUTE
                || Short.toUnsignedInt(answer.get(JAVA_SHORT, TYPE)) != RTM_NEWROUTE
                        ? null
                        : read(Math.min(received, answer.get(JAVA_INT, 0)));
    }

    private int write(Gid source, Gid destination, int interfaceIndex) {
        request.fill((byte) 0);
        boolean isIpv4 = destination.isIpv4();
        byte bits = (byte) (isIpv4 ? Integer.SIZE : 2 * Long.SIZE);
        request.set(JAVA_SHORT, TYPE, (short) RTM_GETROUTE);
        request.set(JAVA_SHORT, FLAGS, (short) NLM_F_REQUEST);
        request.set(JAVA_BYTE, HEADER, (byte) SocketAddress.family(destination));
        request.set(JAVA_BYTE, HEADER + DESTINATION_LENGTH, bits);
        request.set(JAVA_BYTE, HEADER + SOURCE_LENGTH, bits);
        request.set(JAVA_INT, HEADER + ROUTE_FLAGS, RTM_F_FIB_MATCH);
        int at = address(HEADER + ROUTE, RTA_DST, destination, isIpv4);
        at = address(at, RTA_SRC, source, isIpv4);
        if (interfaceIndex != 0) {
            attribute(at, RTA_OIF, Integer.BYTES);
            request.set(JAVA_INT, at + ATTRIBUTE_HEADER, interfaceIndex);
            at += ATTRIBUTE_HEADER + Integer.BYTES;
        }
        request.set(JAVA_INT, 0, at);
        return at;
    }

    private void attribute(int at, int type, int length) {
        request.set(JAVA_SHORT, at, (short) (ATTRIBUTE_HEADER + length));
        request.set(JAVA_SHORT, at + 2, (short) type);
    }

    /** {@return where the next attribute starts} */
    private int address(int at, int type, Gid address, boolean isIpv4) {
        int length = isIpv4 ? Integer.BYTES : 2 * Long.BYTES;
        attribute(at, type, length);
        int start = at + ATTRIBUTE_HEADER;
        if (isIpv4) {
            request.set(U32, start, (int) address.low());
        } else {
            request.set(U64, start, address.high());
            request.set(U64, start + Long.BYTES, address.low());
        }
        return start + length;
    }

    private Route read(long end) {
        int interfaceIndex = 0;
        long at = HEADER + ROUTE;
        while (at + ATTRIBUTE_HEADER <= end) {
            int length = Short.toUnsignedInt(answer.get(JAVA_SHORT, at));
            if (answer.get(JAVA_SHORT, at + 2) == RTA_OIF
                    && length >= ATTRIBUTE_HEADER + Integer.BYTES) {
                interfaceIndex = answer.get(JAVA_INT, at + ATTRIBUTE_HEADER);
            }
            at += (Math.max(ATTRIBUTE_HEADER, length) + 3) & -4;
        }
        return new Route(answer.get(JAVA_BYTE, HEADER + ROUTE_TYPE) == RTN_UNICAST,
                Byte.toUnsignedInt(answer.get(JAVA_BYTE, HEADER + DESTINATION_LENGTH)),
                interfaceIndex);
    }
}
