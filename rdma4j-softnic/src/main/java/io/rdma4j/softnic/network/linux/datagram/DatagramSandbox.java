// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.Sandbox;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Finds out which of the system calls for datagrams are refused. */
final class DatagramSandbox {
    private DatagramSandbox() {}

    /** {@return the first call that is refused of those for datagrams, with the system's error; null if none is} */
    static @Nullable String refusal() {
        try (Arena arena = Arena.ofConfined()) {
            String waiting = Sandbox.refusalOfWaiting(arena);
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

    /** A message without a destination is not sent, and nothing has arrived at a socket that is not bound. */
    private static @Nullable String refusalOfMessages(LinuxSocket socket, Arena arena) {
        MemorySegment header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.iovecs(header, MemorySegment.NULL, 0);
        String sending = LinuxAccess.refusal("sendmsg", socket.send(header));
        return sending != null ? sending
                : LinuxAccess.refusal("recvmsg", socket.receiveOrFail(header));
    }
}
