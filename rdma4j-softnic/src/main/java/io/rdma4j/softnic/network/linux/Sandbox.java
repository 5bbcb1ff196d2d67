package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * Finds out which of the system calls that are needed are refused, by a sandbox or a kernel that lacks them. Each is made once
 * in a way in which it has no effect: where it is let through, it fails for another reason. A call that a device finds refused
 * only in use would leave it silent.
 */
final class Sandbox {
    private Sandbox() {}

    /** {@return the first call that is refused of those for datagrams, with the system's error; null if none is} */
    static @Nullable String refusalOfDatagrams() {
        try (Arena arena = Arena.ofConfined()) {
            String waiting = refusalOfWaiting(arena);
            if (waiting != null) {
                return waiting;
            }
            requireIpv6(arena);
            LinuxSocket socket = LinuxSocket.open(SocketAddress.AF_INET, arena);
            try {
                requireOptions(socket, true);
                return refusalOfMessages(socket, arena);
            } finally {
                socket.close();
            }
        } catch (LinuxSocket.Refused e) {
            return e.getMessage();
        }
    }

    /** Has no effect where there is no IPv6. */
    private static void requireIpv6(Arena arena) throws LinuxSocket.Refused {
        LinuxSocket socket = LinuxSocket.openIpv6(arena);
        if (socket == null) {
            return;
        }
        try {
            requireOptions(socket, false);
        } finally {
            socket.close();
        }
    }

    private static void requireOptions(LinuxSocket socket, boolean isIpv4)
            throws LinuxSocket.Refused {
        LinuxNetwork.setForSending(socket, isIpv4, 0);
        socket.requireOffload();
    }

    /** {@return the first call that is refused of those for streams, with the system's error; null if none is} */
    static @Nullable String refusalOfStreams() {
        try (Arena arena = Arena.ofConfined()) {
            String waiting = refusalOfWaiting(arena);
            if (waiting != null) {
                return waiting;
            }
            TcpCalls calls = new TcpCalls(arena);
            int socket = LinuxSocket.Refused.unlessDone(calls.socket(SocketAddress.AF_INET),
                    "socket");
            try {
                return refusalOfConnections(calls, socket, arena);
            } finally {
                LinuxCalls.close(socket);
            }
        } catch (LinuxSocket.Refused e) {
            return e.getMessage();
        }
    }

    private static @Nullable String refusalOfWaiting(Arena arena) throws LinuxSocket.Refused {
        SocketPoller poller = new SocketPoller(arena, null);
        try {
            LinuxSocket socket = LinuxSocket.open(SocketAddress.AF_INET, arena);
            try {
                poller.watch(socket.descriptor());
            } finally {
                socket.close();
            }
            return poller.refusal();
        } finally {
            poller.close();
        }
    }

    /** A message without a destination is not sent, and nothing has arrived at a socket that is not bound. */
    private static @Nullable String refusalOfMessages(LinuxSocket socket, Arena arena) {
        MemorySegment header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.iovecs(header, MemorySegment.NULL, 0);
        String sending = refusal("sendmsg", socket.send(header));
        return sending != null ? sending : refusal("recvmsg", socket.receiveOrFail(header));
    }

    /** The socket does not listen and is not connected. */
    private static @Nullable String refusalOfConnections(TcpCalls calls, int socket, Arena arena) {
        long address = arena.allocate(8, 8).address();
        String accepting = refusal("accept4", calls.accept(socket));
        if (accepting != null) {
            return accepting;
        }
        String receiving = refusal("recvfrom", calls.receiveOrFail(socket, address, 0));
        String sending = refusal("sendto", calls.send(socket, address, 0));
        if (receiving != null || sending != null) {
            return receiving != null ? receiving : sending;
        }
        String own = refusalOfName("getsockname", () -> calls.local(socket));
        return own != null ? own : refusalOfName("getpeername", () -> calls.remote(socket));
    }

    private interface Name {
        InetSocketAddress ask() throws LinuxSocket.Refused;
    }

    private static @Nullable String refusalOfName(String call, Name name) {
        try {
            name.ask();
            return null;
        } catch (LinuxSocket.Refused e) {
            return refusal(call, -e.errno());
        }
    }

    /** {@return a call and its error, null unless it was refused whatever it was about} */
    static @Nullable String refusal(String call, long result) {
        int error = (int) -result;
        return error == Errno.EPERM.number() || error == Errno.EACCES.number()
                || error == Errno.ENOSYS.number() ? call + ": " + SystemErrors.text(error) : null;
    }
}
