package io.rdma4j.softnic.network.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.Locale;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * Asks the kernel what has become of the bytes of a TCP connection, which the JDK's channels cannot tell. Source: netlink(7),
 * sock_diag(7). For any thread.
 */
public final class TcpDiagnosis {
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int NETLINK_SOCK_DIAG = 4;
    private static final short SOCK_DIAG_BY_FAMILY = 20;
    private static final short NLM_F_REQUEST = 1;
    private static final byte AF_INET = 2;
    private static final byte AF_INET6 = 10;
    private static final byte IPPROTO_TCP = 6;

    /** {@code struct nlmsghdr}. */
    private static final int HEADER = 16;
    private static final int TYPE_AT = 4;
    private static final int FLAGS_AT = 6;
    /** {@code struct inet_diag_req_v2} behind it; its {@code struct inet_diag_sockid} begins with both ports. */
    private static final int REQUEST = HEADER + 56;
    private static final int SOCKET_AT = HEADER + 8;
    private static final int LOCAL_AT = SOCKET_AT + 4;
    private static final int REMOTE_AT = LOCAL_AT + 16;
    private static final int INTERFACE_AT = REMOTE_AT + 16;
    private static final int COOKIE_AT = INTERFACE_AT + 4;
    /** {@code struct inet_diag_msg} behind it. */
    private static final int UNACKNOWLEDGED_AT = HEADER + 60;
    private static final int ANSWER = HEADER + 72;
    private static final int MOST = 1024;
    private static final int UNKNOWN = -1;

    private TcpDiagnosis() {}

    /** {@return whether this program may ask, on a system that answers} */
    public static boolean isPossible() {
        return System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
                && TcpDiagnosis.class.getModule().isNativeAccessEnabled();
    }

    /**
     * {@return whether the other side's system has all that was written, true if that cannot be known}
     *
     * @param local the connection's address and port of this side
     * @param remote those of the other side
     */
    public static boolean isAcknowledged(InetSocketAddress local, InetSocketAddress remote) {
        return unacknowledged(local, remote) <= 0;
    }

    /** {@return the bytes that were written and are not acknowledged, negative if that cannot be known} */
    static int unacknowledged(InetSocketAddress local, InetSocketAddress remote) {
        try (Arena call = Arena.ofConfined()) {
            LinuxCalls calls = new LinuxCalls(call);
            int socket = calls.socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    NETLINK_SOCK_DIAG);
            if (socket < 0) {
                return UNKNOWN;
            }
            try {
                return ask(calls, socket, request(call, local, remote), call.allocate(MOST, 8));
            } finally {
                LinuxCalls.close(socket);
            }
        }
    }

    private static int ask(LinuxCalls calls, int socket, MemorySegment request,
            MemorySegment answer) {
        // The kernel answers before the call returns.
        boolean isAnswered = calls.write(socket, request) == request.byteSize()
                && calls.read(socket, answer) >= ANSWER
                && answer.get(JAVA_SHORT, TYPE_AT) == SOCK_DIAG_BY_FAMILY;
        return isAnswered ? answer.get(JAVA_INT, UNACKNOWLEDGED_AT) : UNKNOWN;
    }

    private static MemorySegment request(Arena arena, InetSocketAddress local,
            InetSocketAddress remote) {
        MemorySegment request = arena.allocate(REQUEST, 8);
        request.set(JAVA_INT, 0, REQUEST);
        request.set(JAVA_SHORT, TYPE_AT, SOCK_DIAG_BY_FAMILY);
        request.set(JAVA_SHORT, FLAGS_AT, NLM_F_REQUEST);
        request.set(JAVA_BYTE, HEADER,
                remote.getAddress() instanceof Inet6Address ? AF_INET6 : AF_INET);
        request.set(JAVA_BYTE, HEADER + 1, IPPROTO_TCP);
        // In any state.
        request.set(JAVA_INT, HEADER + 4, -1);
        request.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), SOCKET_AT, (short) local.getPort());
        request.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), SOCKET_AT + 2,
                (short) remote.getPort());
        write(local.getAddress(), request, LOCAL_AT);
        write(remote.getAddress(), request, REMOTE_AT);
        if (remote.getAddress() instanceof Inet6Address ofLink) {
            request.set(JAVA_INT, INTERFACE_AT, ofLink.getScopeId());
        }
        // Whichever socket has these addresses now.
        request.set(JAVA_INT, COOKIE_AT, -1);
        request.set(JAVA_INT, COOKIE_AT + 4, -1);
        return request;
    }

    private static void write(InetAddress address, MemorySegment request, int at) {
        byte[] bytes = address.getAddress();
        MemorySegment.copy(bytes, 0, request, JAVA_BYTE, at, bytes.length);
    }
}
