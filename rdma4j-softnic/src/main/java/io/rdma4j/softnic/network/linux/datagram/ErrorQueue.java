// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.softnic.network.KnownErrno;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.softnic.network.linux.calls.ControlMessage;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.Outlet;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IPV6;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_RECVERR;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_RECVERR;

/**
 * What the kernel reports of datagrams that a socket has sent: ICMP messages of hosts and routers, and its own
 * failure to find the destination on the link. Each report has the destination of its datagram. Source: ip(7), {@code
 * IP_RECVERR}; recvmsg(2), {@code MSG_ERRQUEUE}.
 */
final class ErrorQueue {
    /** More reports at once say nothing new. */
    private static final int MOST = 64;
    private static final int CONTROL = 256;
    /** Of {@code struct sock_extended_err}: what follows {@code ee_errno}. */
    private static final int ORIGIN_LOCAL = 1;

    private final MemorySegment header;
    private final MemorySegment name;
    private final MemorySegment control;

    ErrorQueue(Arena arena) {
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        control = arena.allocate(CONTROL, 8);
        header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.name(header, name);
        // The datagram itself is not wanted: it has told its destination.
        MessageHeader.iovecs(header, MemorySegment.NULL, 0);
    }

    /**
     * Takes the reports, after which no call on the socket fails because of them.
     *
     * @return how many there were, but for those of datagrams that a call of this host has refused
     */
    int take(Outlet from, SendFailures failures) {
        int taken = 0;
        for (int i = 0; i < MOST; i++) {
            MessageHeader.nameLength(header, SocketAddress.MAX_LENGTH);
            MessageHeader.control(header, control, CONTROL);
            if (from.receiveReport(header) < 0) {
                return taken;
            }
            if (report(MessageHeader.controlLength(header), failures)) {
                taken++;
            }
        }
        return taken;
    }

    private boolean report(long controlLength, SendFailures failures) {
        long at = ControlMessage.value(control, controlLength, IPPROTO_IP, IP_RECVERR);
        if (at < 0) {
            at = ControlMessage.value(control, controlLength, IPPROTO_IPV6, IPV6_RECVERR);
        }
        if (at < 0 || ControlMessage.extendedErrorOrigin(control, at) == ORIGIN_LOCAL) {
            return false;
        }
        failures.onFailure(new Gid(SocketAddress.high(name), SocketAddress.low(name)),
                KnownErrno.of(ControlMessage.extendedError(control, at)));
        return true;
    }
}
