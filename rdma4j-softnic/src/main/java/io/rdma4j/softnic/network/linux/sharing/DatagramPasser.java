// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Sends copies of received datagrams to other places of a group, from a socket of its own. As anybody may send such
 * datagrams, the number of copies is limited. One thread at a time.
 */
final class DatagramPasser implements AutoCloseable {
    /** The longest datagram that is passed on; management datagrams are shorter. */
    private static final int MAX_LENGTH = 512;
    /** As many copies as a sender may cause in an interval, and a client that closes its connections does not. */
    private static final int MAX_COPIES = 10_000;
    private static final long INTERVAL_NS = 100_000_000;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes = arena.allocate(PassedDatagram.HEADER_LENGTH + MAX_LENGTH,
            8);
    private final MemorySegment name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
    private final MemorySegment iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
    private final MemorySegment header = arena.allocate(MessageHeader.LENGTH, 8);
    private final LinuxSocket socket;
    private long intervalBeganNs = System.nanoTime();
    private int copies;

    /** @param family that of the addresses it sends to */
    DatagramPasser(int family) throws LinuxSocket.Refused {
        MessageHeader.name(header, name);
        MessageHeader.iovecs(header, iovec, 1);
        try {
            socket = LinuxSocket.open(family, arena);
        } catch (LinuxSocket.Refused e) {
            arena.close();
            throw e;
        }
    }

    /** {@return whether so many copies may be sent now} */
    boolean mayPass(int more) {
        long nowNs = System.nanoTime();
        if (nowNs - intervalBeganNs > INTERVAL_NS) {
            intervalBeganNs = nowNs;
            copies = 0;
        }
        copies += more;
        return copies <= MAX_COPIES;
    }

    /** Sends a copy; if that fails it is lost. */
    void send(ReceivedDatagram datagram, Gid address, int scope, int place, long key) {
        if (datagram.length() > MAX_LENGTH) {
            return;
        }
        PassedDatagram.write(bytes, place, key, datagram.source());
        MemorySegment.copy(datagram.memory(), datagram.offset(), bytes,
                PassedDatagram.HEADER_LENGTH, datagram.length());
        MessageHeader.iovec(iovec, 0, bytes.address(),
                PassedDatagram.HEADER_LENGTH + datagram.length());
        MessageHeader.nameLength(header, SocketAddress.write(name, address, Path.UDP_PORT, scope));
        socket.send(header);
    }

    @Override
    public void close() {
        socket.close();
        arena.close();
    }
}
