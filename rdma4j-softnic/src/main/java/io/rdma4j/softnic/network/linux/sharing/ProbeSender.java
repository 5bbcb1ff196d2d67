// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Sends probes to the sockets that share a port, from a separate socket. One thread at a time. */
final class ProbeSender implements AutoCloseable {
    private final MemorySegment probe;
    private final MemorySegment name;
    private final MemorySegment header;
    private final LinuxSocket ipv4;
    /** Null where the process has no IPv6, and so none of the sockets. */
    private final @Nullable LinuxSocket ipv6;

    ProbeSender(Arena arena) throws LinuxSocket.Refused {
        probe = arena.allocate(ReuseportProbe.LENGTH, 8);
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        header = arena.allocate(MessageHeader.LENGTH, 8);
        MemorySegment iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
        MessageHeader.name(header, name);
        MessageHeader.iovecs(header, iovec, 1);
        MessageHeader.iovec(iovec, 0, probe.address(), ReuseportProbe.LENGTH);
        ipv4 = LinuxSocket.open(SocketAddress.AF_INET, arena);
        LinuxSocket second = null;
        boolean isOpen = false;
        try {
            second = LinuxSocket.openIpv6(arena);
            isOpen = true;
        } finally {
            if (!isOpen) {
                ipv4.close();
            }
        }
        ipv6 = second;
    }

    /** Sends a probe; a failure shows by the missing answer. */
    void send(Gid address, int scope, int place, long nonce) {
        ReuseportProbe.write(probe, place, nonce);
        MessageHeader.nameLength(header,
                SocketAddress.write(name, address, Path.UDP_PORT, scope));
        LinuxSocket socket = address.isIpv4() ? ipv4 : ipv6;
        if (socket != null) {
            socket.send(header);
        }
    }

    @Override
    public void close() {
        ipv4.close();
        if (ipv6 != null) {
            ipv6.close();
        }
    }
}
