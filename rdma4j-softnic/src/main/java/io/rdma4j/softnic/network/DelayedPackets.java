// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * Packets to be sent later, ordered by time; packets of the same time keep their order. Their number
 * is bounded and their memory is allocated at the start.
 */
final class DelayedPackets {
    /** As many as Linux's netem holds by default. */
    static final int CAPACITY = 1000;
    private static final int PACKET_BYTES = Opcode.MAX_HEADER_LENGTH + Mtu.MTU_4096.bytes()
            + PacketView.ICRC_LENGTH;

    private final Queue<Packet> free = new ArrayDeque<>(CAPACITY);
    private final Queue<Packet> byTime = new PriorityQueue<>(CAPACITY,
            Comparator.comparingLong((Packet packet) -> packet.dueNs)
                    .thenComparingLong(packet -> packet.number));
    private final List<Packet> kept = new ArrayList<>();
    private long count;

    DelayedPackets(Arena arena) {
        ByteBuffer memory = arena.allocate((long) CAPACITY * PACKET_BYTES, 64).asByteBuffer();
        for (int i = 0; i < CAPACITY; i++) {
            free.add(new Packet(memory.slice(i * PACKET_BYTES, PACKET_BYTES)));
        }
    }

    /** A packet to be sent. */
    static final class Packet {
        private final ByteBuffer bytes;
        private @Nullable PacketPort port;
        private Path path = Path.NONE;
        private long dueNs;
        private long number;

        Packet(ByteBuffer bytes) {
            this.bytes = bytes;
        }

        PacketPort port() {
            PacketPort present = port;
            if (present == null) {
                throw new IllegalStateException("the packet is not held");
            }
            return present;
        }

        Path path() {
            return path;
        }

        ByteBuffer bytes() {
            return bytes.position(0);
        }
    }

    /** {@return the copy of a packet that was added, null if there is no room} */
    @Nullable
    ByteBuffer add(PacketPort port, Path path, ByteBuffer datagram, long dueNs) {
        Packet packet = free.poll();
        if (packet == null) {
            return null;
        }
        packet.port = port;
        packet.path = path;
        packet.dueNs = dueNs;
        packet.number = count++;
        packet.bytes.clear().put(datagram).flip();
        byTime.add(packet);
        return packet.bytes;
    }

    /** {@return when the first is due, {@link Long#MAX_VALUE} if there is none} */
    long earliestNs() {
        Packet first = byTime.peek();
        return first == null ? Long.MAX_VALUE : first.dueNs;
    }

    /** Removes the packet that is due first. {@return that packet} */
    Packet removeEarliest() {
        return byTime.remove();
    }

    /** Its bytes are not needed any more. */
    void free(Packet packet) {
        packet.port = null;
        free.add(packet);
    }

    /** A port needs its bytes until it is flushed. */
    void keep(Packet packet) {
        kept.add(packet);
    }

    /** A port was flushed. */
    void freeKept(PacketPort port) {
        for (int i = kept.size() - 1; i >= 0; i--) {
            if (kept.get(i).port().equals(port)) {
                free(kept.remove(i));
            }
        }
    }
}
