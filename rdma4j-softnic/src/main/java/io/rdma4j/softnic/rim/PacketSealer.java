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
public final class PacketSealer {
    /** Room for the largest packet, which is far smaller than a datagram may be. */
    public static final int CAPACITY = 8192;

    private final Icrc icrc = new Icrc();
    private final ByteBuffer buffer;
    private final MemorySegment memory;

    /** @param arena where datagrams are made */
    public PacketSealer(Arena arena) {
        memory = arena.allocate(CAPACITY, 64);
        buffer = memory.asByteBuffer();
    }

    /** {@return the memory that datagrams are made in, each at the start} */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Copies a packet into the buffer and seals it.
     *
     * @return the datagram, between position 0 and limit; valid until the next call
     * @throws IllegalStateException if the arena of a piece of payload was closed
     */
    public ByteBuffer seal(OutgoingPacket packet) {
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
     * @param datagram the bytes to compute with; its position and limit change
     * @param bytes the same bytes
     * @param start where the datagram starts
     */
    public int identify(ByteBuffer datagram, MemorySegment bytes, int start, int length,
            Gid source, Gid destination, int sourcePort) {
        if (length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH) {
            return -1;
        }
        int covered = length - PacketView.ICRC_LENGTH;
        return icrc.identify(bytes.get(Layouts.U32_LITTLE, start + covered), source, destination,
                sourcePort, Path.UDP_PORT, datagram, start, covered);
    }
}
