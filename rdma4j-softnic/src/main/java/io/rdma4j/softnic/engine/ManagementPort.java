package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.verbs.Counter;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Queue pair 1: carries the connection manager's messages as datagrams. Source: IBTA 13.5.2. */
final class ManagementPort {
    private final IbConnectionManager manager;
    private final MemorySegment message;
    private final ByteBuffer messageView;
    private long psn;

    ManagementPort(IbConnectionManager manager, Arena arena) {
        this.manager = manager;
        message = arena.allocate(IbConnectionManager.MESSAGE_LENGTH, 8);
        messageView = message.asByteBuffer();
    }

    /** {@return why the packet was dropped, or null} */
    @Nullable
    Counter onPacket(PacketView packet, long nowNs) {
        if (packet.opcode() != Opcode.UD_SEND_ONLY
                || packet.payloadLength() != IbConnectionManager.MESSAGE_LENGTH) {
            return Counter.DROPPED_BAD_MAD;
        }
        if (packet.qkey() != IbConnectionManager.QKEY) {
            return Counter.DROPPED_BAD_QKEY;
        }
        ByteBuffer mad = packet.payloadMemory()
                .asSlice(packet.payloadStart(), IbConnectionManager.MESSAGE_LENGTH).asByteBuffer();
        return manager.onMad(mad, new CmPeer(packet.destination(), packet.source()), nowNs)
                ? null
                : Counter.DROPPED_BAD_MAD;
    }

    void onPeerReady(int queuePair) {
        manager.onPeerReady(queuePair);
    }

    /** {@return whether to find out if anybody has the port that the message polled last goes to} */
    boolean isAsking() {
        return manager.isAsking();
    }

    /** Nobody has. */
    void onUnreachable(long nowNs) {
        manager.onUnreachable(nowNs);
    }

    void onTime(long nowNs) {
        if (manager.deadlineNs() <= nowNs) {
            manager.onDeadline(nowNs);
        }
    }

    long deadlineNs() {
        return manager.deadlineNs();
    }

    boolean pollTransmit(OutgoingPacket out) {
        CmPeer peer = manager.pollTransmit(messageView.clear());
        if (peer == null) {
            return false;
        }
        out.begin(Opcode.UD_SEND_ONLY, Path.between(peer.local(), peer.remote())
                .withTrafficClass(manager.trafficClass()),
                IbConnectionManager.QUEUE_PAIR, psn++, false, false)
                .datagram(IbConnectionManager.QKEY, IbConnectionManager.QUEUE_PAIR);
        out.addPayload(message, 0, IbConnectionManager.MESSAGE_LENGTH);
        return true;
    }
}
