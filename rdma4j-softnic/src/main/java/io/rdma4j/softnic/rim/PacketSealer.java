package io.rdma4j.softnic.rim;

import io.rdma4j.protocol.wire.Icrc;
import io.rdma4j.protocol.wire.Layouts;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Makes one datagram of an outgoing packet, and checks arrived ones. Reusable, not thread safe.
 *
 * <p>The Identification of IPv4 packets is taken as 0: that is what Linux sends from a socket that is not
 * connected and does not fragment.
 */
final class PacketSealer {
    /** Room for the largest packet, which is far smaller than a datagram may be. */
    static final int CAPACITY = 8192;

    private final Icrc icrc = new Icrc();
    private final ByteBuffer buffer;
    private final MemorySegment memory;

    PacketSealer(Arena arena) {
        memory = arena.allocate(CAPACITY, 64);
        buffer = memory.asByteBuffer();
    }

    /**
     * Copies a packet into the buffer and seals it.
     *
     * @return the datagram, between position 0 and limit; valid until the next call
     * @throws IllegalStateException if the arena of a piece of payload was closed
     */
    ByteBuffer seal(OutgoingPacket packet) {
        int length = packet.copyTo(memory, 0);
        Path path = packet.path();
        int crc = icrc.compute(path.source(), path.destination(), Path.UDP_PORT, Path.UDP_PORT, 0,
                buffer, 0, length);
        memory.set(Layouts.U32_LITTLE, length, crc);
        return buffer.limit(length + PacketView.ICRC_LENGTH).position(0);
    }

    /**
     * {@return the IPv4 Identification a received datagram must have had, -1 if it is damaged}
     *
     * @param datagram its position and limit change
     */
    int identify(ByteBuffer datagram, MemorySegment bytes, int length, Gid source, Gid destination,
            int sourcePort) {
        if (length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH) {
            return -1;
        }
        int covered = length - PacketView.ICRC_LENGTH;
        return icrc.identify(bytes.get(Layouts.U32_LITTLE, covered), source, destination,
                sourcePort, Path.UDP_PORT, datagram, 0, covered);
    }
}
