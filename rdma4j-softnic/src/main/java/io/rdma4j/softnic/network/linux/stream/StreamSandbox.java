// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.Sandbox;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;

/** Finds out which of the system calls for TCP connections are refused. */
final class StreamSandbox {
    private StreamSandbox() {}

    /** {@return the first call that is refused of those for streams, with the system's error; null if none is} */
    static @Nullable String refusal() {
        try (Arena arena = Arena.ofConfined()) {
            String waiting = Sandbox.refusalOfWaiting(arena);
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

    /** The socket does not listen and is not connected. */
    private static @Nullable String refusalOfConnections(TcpCalls calls, int socket, Arena arena) {
        long address = arena.allocate(8, 8).address();
        String accepting = LinuxAccess.refusal("accept4", calls.accept(socket));
        if (accepting != null) {
            return accepting;
        }
        String receiving = LinuxAccess.refusal("recvfrom",
                calls.receiveOrFail(socket, address, 0));
        String sending = LinuxAccess.refusal("sendto", calls.send(socket, address, 0));
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
            return LinuxAccess.refusal(call, -e.errno());
        }
    }
}
