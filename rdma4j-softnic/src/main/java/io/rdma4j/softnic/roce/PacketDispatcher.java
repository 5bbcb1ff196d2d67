// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.DropReason;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.observe.jfr.PacketEvents;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Dispatches received packets: finds the destination queue pairs of a packet, or why there are none. For the engine's
 * owner.
 *
 * <p>Source: IBTA 9.6 (order of the checks).
 */
final class PacketDispatcher implements PacketHandler, SharedMemory.Handler {
    private static final int FULL_MEMBER = 0x8000;

    private final Engine engine;
    private final DatagramNetwork network;
    private final PortSharing sharing;
    private final MulticastGroups groups;
    private final ManagementPort management;
    /** Of datagrams, and packets of this device to itself. */
    private final PacketView own = new PacketView();
    /** The last packet. */
    private PacketView packet = own;
    /** An address of this device, as packets through memory have named it. */
    private @Nullable Gid ownAddress;
    /** For joining a payload of several pieces. */
    private final MemorySegment room;

    PacketDispatcher(Engine engine, DatagramNetwork network, MulticastGroups groups,
            ManagementPort management, Arena arena) {
        this.engine = engine;
        this.network = network;
        sharing = network.sharing();
        this.groups = groups;
        this.management = management;
        room = arena.allocate(Mtu.MTU_4096.bytes(), 64);
    }

    /** {@return the source address of the last packet} */
    Gid source() {
        return packet.source();
    }

    @Override
    public void onDatagram(ReceivedDatagram datagram) {
        Gid local = datagram.local();
        Gid source = datagram.source();
        int length = datagram.length();
        packet = own;
        DropReason reason = own.wrap(datagram.memory(), datagram.offset(), length);
        if (reason != null) {
            drop(counter(reason), source);
            return;
        }
        own.travelled(source, local);
        dispatch(length, datagram);
    }

    private static Counter counter(DropReason reason) {
        return switch (reason) {
            case TOO_SHORT -> Counter.DROPPED_TOO_SHORT;
            case UNKNOWN_OPCODE -> Counter.DROPPED_UNKNOWN_OPCODE;
            case BAD_VERSION -> Counter.DROPPED_BAD_VERSION;
            case UNEXPECTED_PAYLOAD -> Counter.DROPPED_UNEXPECTED_PAYLOAD;
        };
    }

    /** A packet of another process of this machine. Groups and the connection manager are reached by the network alone. */
    @Override
    public void onPacket(PacketView shared) {
        packet = shared;
        if (!isOwn(shared.destination())) {
            drop(Counter.DROPPED_MALFORMED, shared.source());
            return;
        }
        if (shared.destinationQueuePairNumber() == IbConnectionManager.QUEUE_PAIR) {
            drop(Counter.DROPPED_UNKNOWN_QP, shared.source());
            return;
        }
        dispatch(shared.length(), null);
    }

    /** {@return whether this device has an address} Mostly it is that of the last packet, which is the same object then. */
    @SuppressWarnings("ReferenceEquality")
    private boolean isOwn(Gid local) {
        if (local != ownAddress) {
            if (network.port(local) == null || local.isMulticast()) {
                return false;
            }
            ownAddress = local;
        }
        return true;
    }

    /** This device has fewer addresses than before. */
    void forgetAddress() {
        ownAddress = null;
    }

    @Override
    public void onMalformed(Gid source) {
        drop(Counter.DROPPED_MALFORMED, source);
    }

    @Override
    public void onNonsense() {
        drop(Counter.DROPPED_MALFORMED, Gid.ZERO);
    }

    /**
     * Receives a packet of this device to one of its own addresses.
     *
     * @return false if the memory of its payload no longer exists; nothing is received then
     */
    boolean onOwn(OutgoingPacket outgoing) {
        packet = own;
        if (!own.wrap(outgoing, room)) {
            return false;
        }
        own.travelled(outgoing.path().source(), outgoing.path().destination());
        dispatch(own.length(), null);
        boolean isTaken = !own.isPayloadGone();
        own.release();
        return isTaken;
    }

    /**
     * Finds what the packet is for. So long that compilers do not inline it, on purpose: ADR 56.
     *
     * @param datagram in which it came through the network, otherwise null
     */
    private void dispatch(int length, @Nullable ReceivedDatagram datagram) {
        Gid source = packet.source();
        Gid local = packet.destination();
        // Full and limited members of the default partition understand each other. IBTA 10.9.3.
        // [IBTA 9.6.1-2]
        if ((packet.pkey() | FULL_MEMBER) != OutgoingPacket.DEFAULT_PKEY) {
            drop(Counter.DROPPED_BAD_PKEY, source);
            return;
        }
        int number = packet.destinationQueuePairNumber();
        Opcode.Service service = packet.opcode().service();
        if (local.isMulticast()) {
            List<MulticastGroups.Member> members = groups.members(local);
            if (members.isEmpty() || number != MulticastGroups.QUEUE_PAIR
                    || service != Opcode.Service.UD) {
                drop(Counter.DROPPED_UNKNOWN_QP, source);
                return;
            }
            // To each member of the group. IBTA 10.5.2.
            for (int i = 0; i < members.size(); i++) {
                MulticastGroups.Member member = members.get(i);
                if (!member.blocksMulticastLoopback() || !isFrom(member.queuePair())) {
                    deliver(member.queuePair(), length);
                }
            }
            return;
        }
        if (number == IbConnectionManager.QUEUE_PAIR) {
            onManagement(length, datagram);
            return;
        }
        // Every queue pair of this engine is one of RoCE.
        RoceQueuePair queuePair = (RoceQueuePair) engine.find(number);
        if (queuePair == null) {
            if (sharing.isOwn(number)) {
                drop(Counter.DROPPED_UNKNOWN_QP, source);
            } else {
                drop(Counter.DROPPED_MISDIRECTED, source);
                sharing.onMisdirected(number);
            }
            return;
        }
        boolean isNotification = service == Opcode.Service.CONGESTION;
        // [IBTA 9.6.1-1]
        if (!isNotification && queuePair.service() != service) {
            drop(Counter.DROPPED_UNKNOWN_QP, source);
            return;
        }
        // [IBTA 9.6.1-3]
        if (!queuePair.isFrom(local, source)) {
            queuePair.count(Counter.DROPPED_WRONG_SOURCE);
            return;
        }
        if (isNotification) {
            // A switch marked packets, as the peer reports (CNP). The software NIC does not send more slowly. IBTA A17.9.3.
            countReceived(queuePair, 1, length);
            queuePair.count(Counter.RP_CNP_IGNORED);
            return;
        }
        deliver(queuePair, length);
    }

    private static void countReceived(RoceQueuePair queuePair, int packets, int length) {
        queuePair.count(Counter.RCVD_PKTS, packets, Counter.RCVD_BYTES, length);
    }

    private boolean isFrom(RoceQueuePair queuePair) {
        return queuePair.number() == packet.sourceQueuePairNumber()
                && network.port(packet.source()) != null;
    }

    private void deliver(RoceQueuePair queuePair, int length) {
        countReceived(queuePair, packet.span(), length);
        try {
            queuePair.protocol().onPacket(packet, engine.timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine.contain(queuePair, defect);
        }
        if (packet.wasBorrowed()) {
            queuePair.count(Counter.BORROWED_PKTS, packet.span(), Counter.BORROWED_BYTES,
                    packet.payloadLength());
        }
        engine.touched(queuePair);
    }

    private void onManagement(int length, @Nullable ReceivedDatagram datagram) {
        if (datagram == null || !management.isForAnyProcess(packet)) {
            onManagement(length);
        } else if (datagram.isPassedOn()) {
            // The process that passed it on has counted it.
            Counter _ = management.onPacket(packet, engine.timeNs());
        } else {
            onManagementForAny(datagram);
        }
    }

    /** Others are asked if this process has no use for it. */
    private void onManagementForAny(ReceivedDatagram datagram) {
        countManagement(datagram.length());
        Counter drop = management.onPacket(packet, engine.timeNs());
        if (drop != null) {
            drop(sharing.passOn(datagram) ? Counter.DROPPED_MISDIRECTED : drop, packet.source());
        }
    }

    private void onManagement(int length) {
        countManagement(length);
        Counter drop = management.onPacket(packet, engine.timeNs());
        if (drop != null) {
            drop(drop, packet.source());
        }
    }

    private void countManagement(int length) {
        engine.counters().add(Counter.RCVD_PKTS, 1);
        engine.counters().add(Counter.RCVD_BYTES, length);
    }

    @Override
    public void onDamaged(Gid source, int length) {
        drop(length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH
                ? Counter.DROPPED_TOO_SHORT
                : Counter.DROPPED_BAD_ICRC, source);
    }

    /** Drops a packet. */
    private void drop(Counter reason, Gid source) {
        engine.count(reason);
        PacketEvents.drop(reason, source, 0);
    }
}
