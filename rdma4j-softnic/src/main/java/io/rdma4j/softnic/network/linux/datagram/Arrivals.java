// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.softnic.network.linux.calls.ControlMessage;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_UDP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_GRO;

/**
 * The buffer for one receive call: a datagram, or several of one sender that the kernel has merged, all of
 * the same length except the last. Source: udp(7), {@code UDP_GRO}.
 */
final class Arrivals {
    /** More than the length of any datagram or merged burst. */
    private static final int CAPACITY = 1 << 16;
    private static final int CONTROL = 64;
    private static final int MANY = 32;

    private final MemorySegment bytes;
    private final ByteBuffer bytesForCheck;
    private final MemorySegment header;
    private final MemorySegment name;
    private final MemorySegment control;
    private final KnownPeers peers = new KnownPeers();
    private int length;
    private int segmentLength;
    private boolean isFilled;

    Arrivals(Arena arena) {
        bytes = arena.allocate(CAPACITY, 64);
        bytesForCheck = bytes.asByteBuffer();
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        control = arena.allocate(CONTROL, 8);
        MemorySegment iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
        MessageHeader.iovec(iovec, 0, bytes.address(), CAPACITY);
        header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.name(header, name);
        MessageHeader.iovecs(header, iovec, 1);
        MessageHeader.nameLength(header, SocketAddress.MAX_LENGTH);
        MessageHeader.control(header, control, CONTROL);
    }

    /** {@return whether something has arrived, which is in here now} */
    boolean receive(LinuxSocket socket) {
        if (isFilled) {
            // The system has put the lengths there that it needed; a call without a result leaves all as it is.
            MessageHeader.nameLength(header, SocketAddress.MAX_LENGTH);
            MessageHeader.controlLength(header, CONTROL);
            isFilled = false;
        }
        long received = socket.receive(header);
        if (received < 0) {
            // Nothing received, or an error of an earlier sent datagram.
            return false;
        }
        isFilled = true;
        length = (int) received;
        int told = ControlMessage.find(control, MessageHeader.controlLength(header), IPPROTO_UDP,
                UDP_GRO);
        segmentLength = told > 0 ? told : length;
        return true;
    }

    /** {@return the bytes of all datagrams} */
    int length() {
        return length;
    }

    /** {@return the length in bytes of each datagram except the last; 0 for one empty datagram} */
    int segmentLength() {
        return segmentLength;
    }

    /** {@return whether it is about a full burst, so that the sender has probably sent more} */
    boolean isLong() {
        return length >= CAPACITY / 2 || length >= MANY * segmentLength;
    }

    MemorySegment bytes() {
        return bytes;
    }

    /** {@return the bytes once more, to compute with} */
    ByteBuffer bytesForCheck() {
        return bytesForCheck;
    }

    Gid source() {
        return peers.find(SocketAddress.high(name), SocketAddress.low(name));
    }

    int sourcePort() {
        return SocketAddress.port(name);
    }
}
