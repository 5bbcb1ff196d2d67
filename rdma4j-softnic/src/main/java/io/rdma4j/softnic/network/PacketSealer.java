package io.rdma4j.softnic.network;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Makes one datagram of an outgoing packet, and checks arrived ones. Reusable, not thread safe.
 *
 * <p>The Identification of IPv4 packets is taken as 0 if nothing else is said: that is what Linux sends from a
 * socket that is not connected and does not fragment.
 */
public final class PacketSealer {
    /** The bytes of the longest packet. */
    public static final int LONGEST = Opcode.MAX_HEADER_LENGTH + Mtu.MTU_4096.bytes()
            + PacketView.ICRC_LENGTH;
    /** Room for the longest packet and a bit. */
    public static final int CAPACITY = 8192;

    private final Icrc icrc = new Icrc();
    private final ByteBuffer buffer;
    private final MemorySegment memory;
    private final int ownPort;

    /** @param arena where datagrams are made */
    public PacketSealer(Arena arena) {
        this(arena, CAPACITY);
    }

    /** @param capacity bytes for datagrams */
    public PacketSealer(Arena arena, long capacity) {
        this(arena, capacity, Path.UDP_PORT);
    }

    /** @param ownPort the UDP port that the datagrams leave from */
    public PacketSealer(Arena arena, long capacity, int ownPort) {
        this.ownPort = ownPort;
        memory = arena.allocate(capacity, 64);
        buffer = memory.asByteBuffer();
    }

    /** {@return the memory that datagrams are made in} */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Copies a packet into the buffer and seals it.
     *
     * @return the datagram, between position 0 and limit, valid until the next call; null if the memory of the payload
     *         is gone
     */
    public @Nullable ByteBuffer seal(OutgoingPacket packet) {
        return seal(packet, 0, 0, 0)
                ? buffer.limit(packet.totalLength()).position(0)
                : null;
    }

    /**
     * Copies a packet into the memory and seals it.
     *
     * @param index which of those that it stands for
     * @param at where it shall start
     * @param identification the IPv4 Identification that it leaves with
     * @return false if the memory of its payload is gone
     */
    public boolean seal(OutgoingPacket packet, int index, int at, int identification) {
        int copied = packet.copyTo(index, memory, at);
        if (copied == OutgoingPacket.PAYLOAD_GONE) {
            return false;
        }
        seal(packet.path(), at, copied, identification);
        return true;
    }

    /**
     * Seals a packet anew, for Identification 0.
     *
     * @param at where it starts
     * @param length its bytes, ICRC included
     */
    public void reseal(Path path, int at, int length) {
        seal(path, at, length - PacketView.ICRC_LENGTH, 0);
    }

    /** As {@link #seal(OutgoingPacket)} for a datagram that leaves from another UDP port. */
    ByteBuffer seal(OutgoingPacket packet, int sourcePort) {
        seal(packet.path(), sourcePort, 0, packet.copyTo(0, memory, 0), 0);
        return buffer.limit(packet.totalLength()).position(0);
    }

    private void seal(Path path, int at, int covered, int identification) {
        seal(path, ownPort, at, covered, identification);
    }

    private void seal(Path path, int sourcePort, int at, int covered, int identification) {
        int crc = icrc.compute(path.source(), path.destination(), sourcePort, Path.UDP_PORT,
                path.source().isIpv4() ? identification : 0, buffer, at, covered);
        memory.set(Layouts.U32_LITTLE, at + covered, crc);
    }

    /**
     * {@return the IPv4 Identification a received datagram must have had, -1 if it is damaged}
     *
     * @param datagram the bytes to compute with; its position and limit change
     * @param bytes the same bytes
     * @param start where the datagram starts
     * @param likely the Identification to try first
     */
    public int identify(ByteBuffer datagram, MemorySegment bytes, int start, int length,
            Gid source, Gid destination, int sourcePort, int likely) {
        if (length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH) {
            return -1;
        }
        int covered = length - PacketView.ICRC_LENGTH;
        return icrc.identify(bytes.get(Layouts.U32_LITTLE, start + covered), source, destination,
                sourcePort, Path.UDP_PORT, likely, datagram, start, covered);
    }
}
