// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Makes one datagram of an outgoing packet. Reusable, not thread safe.
 *
 * <p>The Identification of IPv4 packets is assumed to be 0: Linux sends it from an unconnected socket that does not
 * fragment.
 */
public final class PacketSealer {
    /** The bytes of the longest packet. */
    public static final int LONGEST = Opcode.MAX_HEADER_LENGTH + Mtu.MTU_4096.bytes()
            + PacketView.ICRC_LENGTH;
    /** Room for the longest packet and a bit. */
    public static final int CAPACITY = 8192;

    private final Icrc icrc = new Icrc();
    private final MemorySegment memory;
    private final ByteBuffer buffer;

    /** @param arena allocates the memory of datagrams */
    public PacketSealer(Arena arena) {
        memory = arena.allocate(CAPACITY, 64);
        buffer = memory.asByteBuffer();
    }

    /**
     * Builds a datagram that leaves from port 4791.
     *
     * @return the datagram, between position 0 and limit, valid until the next call; null if the memory of the payload no
     *         longer exists
     */
    public @Nullable ByteBuffer seal(OutgoingPacket packet) {
        return seal(packet, 0, Path.UDP_PORT);
    }

    /**
     * As {@link #seal(OutgoingPacket)} for one of the packets that a packet represents, and any port.
     *
     * @param index 0 for the first
     * @param sourcePort the UDP port that it leaves from
     */
    public @Nullable ByteBuffer seal(OutgoingPacket packet, int index, int sourcePort) {
        if (packet.copyTo(index, memory, 0) == OutgoingPacket.PAYLOAD_GONE) {
            return null;
        }
        int length = packet.packetLength();
        icrc.seal(packet.path(), sourcePort, 0, buffer, 0, length);
        return buffer.limit(length).position(0);
    }
}
