package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.cm.CmPeer;
import io.rdma4j.protocol.cm.ConnectionManager;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.verbs.Counter;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Queue pair 1: carries the connection manager's messages as datagrams. Source: IBTA 13.5.2. */
final class ManagementPort {
    private final ConnectionManager manager;
    private final MemorySegment message;
    private final ByteBuffer messageView;
    private long psn;

    ManagementPort(ConnectionManager manager, Arena arena) {
        this.manager = manager;
        message = arena.allocate(ConnectionManager.MESSAGE_LENGTH, 8);
        messageView = message.asByteBuffer();
    }

    /** {@return why the packet was dropped, or null} */
    @Nullable
    Counter onPacket(PacketView packet, long nowNs) {
        if (packet.opcode() != Opcode.UD_SEND_ONLY
                || packet.payloadLength() != ConnectionManager.MESSAGE_LENGTH) {
            return Counter.DROPPED_BAD_MAD;
        }
        if (packet.qkey() != ConnectionManager.QKEY) {
            return Counter.DROPPED_BAD_QKEY;
        }
        ByteBuffer mad = packet.payloadMemory()
                .asSlice(packet.payloadStart(), ConnectionManager.MESSAGE_LENGTH).asByteBuffer();
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
                ConnectionManager.QUEUE_PAIR, psn++, false, false)
                .datagram(ConnectionManager.QKEY, ConnectionManager.QUEUE_PAIR);
        out.addPayload(message, 0, ConnectionManager.MESSAGE_LENGTH);
        return true;
    }
}
