// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Two ends of an unreliable connection, or two that send each other datagrams: a test makes them, acts, {@link #settle}s and
 * asserts. Time has no meaning for them. Packets arrive in order, unless a test loses, repeats or holds back some.
 */
final class UnreliablePair {
    final UnreliableEnd a;
    final UnreliableEnd b;
    /** The opcodes of all packets, in order, as {@code a>b SEND_ONLY 3}; the number is how far it is from the first PSN. */
    final List<String> trace = new ArrayList<>();

    private final Settings settings;
    private final Deque<Flight> flights = new ArrayDeque<>();
    private final Deque<Flight> heldBack = new ArrayDeque<>();
    private Predicate<PacketView> lossRule = packet -> false;
    private Predicate<PacketView> repetitionRule = packet -> false;
    private Predicate<PacketView> delayRule = packet -> false;

    private record Flight(UnreliableEnd to, byte[] bytes) {}

    /** How a test wants its pair. */
    static final class Settings {
        QueuePairType type = QueuePairType.UC;
        /** Two below the end of the 24 bits, so that they wrap around in every test. */
        int firstPsn = 0xfffffe;
        Mtu mtu = Mtu.MTU_1024;
        int qkey = 0x1111_1111;
        boolean hasSharedReceives;
        boolean isIpv6;
        QueuePairState stateOfA = QueuePairState.RTS;
        QueuePairState stateOfB = QueuePairState.RTS;
        Set<AccessFlag> access = EnumSet.of(AccessFlag.REMOTE_WRITE);
    }

    UnreliablePair() {
        this(new Settings());
    }

    UnreliablePair(Settings settings) {
        this.settings = settings;
        a = new UnreliableEnd(this, "a", 0x11, settings);
        b = new UnreliableEnd(this, "b", 0x22, settings);
        a.bringTo(settings.stateOfA);
        b.bringTo(settings.stateOfB);
    }

    Gid gid(UnreliableEnd end) {
        return settings.isIpv6
                ? new Gid(0x2001_0db8_0000_0000L, end.number)
                : new Gid(0, 0xffff_0a00_0000L | end.number);
    }

    // ---------------------------------------------------------------- what happens to packets

    void loseIf(Predicate<PacketView> rule) {
        lossRule = rule;
    }

    /** Loses the first packet that is such, and no other. */
    void loseFirst(Predicate<PacketView> rule) {
        loseIf(first(rule));
    }

    void repeatIf(Predicate<PacketView> rule) {
        repetitionRule = rule;
    }

    /** Holds the first packet that is such back until nothing else is under way. */
    void holdBackFirst(Predicate<PacketView> rule) {
        delayRule = first(rule);
    }

    private static Predicate<PacketView> first(Predicate<PacketView> rule) {
        boolean[] hasHeld = new boolean[1];
        return packet -> {
            boolean holds = !hasHeld[0] && rule.test(packet);
            hasHeld[0] |= holds;
            return holds;
        };
    }

    /** {@return false if the memory of the payload is gone} */
    boolean carry(UnreliableEnd from, OutgoingPacket packet) {
        byte[] bytes = new byte[packet.totalLength()];
        if (packet.copyTo(MemorySegment.ofArray(bytes), 0) == OutgoingPacket.PAYLOAD_GONE) {
            return false;
        }
        PacketView view = view(bytes);
        trace.add(from.name + ">" + from.peer().name + " " + view.opcode().name().substring(3) + " "
                + (view.psn() - settings.firstPsn & 0xffffff));
        if (lossRule.test(view)) {
            return true;
        }
        Flight flight = new Flight(from.peer(), bytes);
        (delayRule.test(view) ? heldBack : flights).add(flight);
        if (repetitionRule.test(view)) {
            flights.add(flight);
        }
        return true;
    }

    private static PacketView view(byte[] bytes) {
        PacketView packet = new PacketView();
        if (packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length) != null) {
            throw new AssertionError("not a packet");
        }
        return packet;
    }

    private void arrive(Flight flight) {
        PacketView packet = view(flight.bytes);
        packet.travelled(flight.to.peer().gid(), flight.to.gid());
        flight.to.queuePair.onPacket(packet, 0);
    }

    /** A packet arrives that neither side has sent. */
    void deliver(UnreliableEnd to, OutgoingPacket packet) {
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        arrive(new Flight(to, bytes));
    }

    /** A packet arrives whose payload is still the sender's memory, as between two processes of one machine. */
    PacketView deliverFromMemory(UnreliableEnd to, OutgoingPacket header, MemorySegment payload) {
        PacketView view = new PacketView();
        MemorySegment headers = MemorySegment.ofArray(new byte[Opcode.MAX_HEADER_LENGTH]);
        header.copyHeadersTo(headers, 0);
        if (view.wrap(headers, 0, header.headerLength(), payload, 0,
                (int) payload.byteSize(), 1) != null) {
            throw new AssertionError("not a packet");
        }
        view.travelled(to.peer().gid(), to.gid());
        to.queuePair.onPacket(view, 0);
        return view;
    }

    /** Lets both ends work until nothing is left to do. */
    void settle() {
        do {
            a.transmit();
            b.transmit();
            Flight next = flights.isEmpty() ? heldBack.poll() : flights.poll();
            if (next != null) {
                arrive(next);
            }
        } while (!flights.isEmpty() || !heldBack.isEmpty());
        a.transmit();
        b.transmit();
    }
}
