// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmAddressee;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.engine.EngineLog;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.IntPredicate;

/** Queue pair 1: carries the connection manager's messages as datagrams. Source: IBTA 13.5.2. */
final class ManagementPort {
    private static final System.Logger LOG = System.getLogger(ManagementPort.class.getName());

    private final IbConnectionManager manager;
    private final MemorySegment message;
    private final ByteBuffer messageView;
    private final PortSharing sharing;
    private long psn;

    ManagementPort(IbConnectionManager manager, PortSharing sharing, Arena arena) {
        this.manager = manager;
        this.sharing = sharing;
        message = arena.allocate(IbConnectionManager.MESSAGE_LENGTH, 8);
        messageView = message.asByteBuffer();
    }

    /** {@return why the packet was dropped, or null} */
    @Nullable
    Counter onPacket(PacketView packet, long nowNs) {
        if (!isMessage(packet)) {
            return Counter.DROPPED_BAD_MAD;
        }
        if (packet.qkey() != IbConnectionManager.QKEY) {
            return Counter.DROPPED_BAD_QKEY;
        }
        ByteBuffer mad = message(packet);
        CmAddressee addressee = CmAddressee.of(mad);
        int other = otherReceiver(addressee, packet.destination());
        if (other != 0) {
            sharing.onMisdirected(other << PortSharing.QUEUE_PAIR_BITS);
            return Counter.DROPPED_MISDIRECTED;
        }
        try {
            if (manager.onMad(mad, new CmPeer(packet.destination(), packet.source()), nowNs)) {
                return null;
            }
            if (!(addressee instanceof CmAddressee.Requested)) {
                // It may have been for a process that has died and whose place another one has taken.
                sharing.onMisdirected(0);
            }
            return Counter.DROPPED_BAD_MAD;
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
            return null;
        }
    }

    private static boolean isMessage(PacketView packet) {
        return packet.opcode() == Opcode.UD_SEND_ONLY
                && packet.payloadLength() == IbConnectionManager.MESSAGE_LENGTH;
    }

    private static ByteBuffer message(PacketView packet) {
        return packet.payloadMemory()
                .asSlice(packet.payloadStart(), IbConnectionManager.MESSAGE_LENGTH).asByteBuffer();
    }

    /** {@return whether nothing in a packet tells for which of the processes at its destination it is} */
    boolean isForAnyProcess(PacketView packet) {
        return sharing.isShared() && isMessage(packet)
                && CmAddressee.of(message(packet)) instanceof CmAddressee.Requested;
    }

    /**
     * {@return the prefix of the other process of this machine that a message is for, 0 if none is known} An answer in its
     * place would end that process's exchange.
     */
    private int otherReceiver(@Nullable CmAddressee addressee, Gid destination) {
        return switch (addressee) {
            case CmAddressee.Service service ->
                sharing.otherListener(destination, service.lowerId());
            case CmAddressee.Identifier identifier -> {
                int prefix = identifier.value() >>> IbConnectionManager.IDENTIFIER_BITS;
                yield sharing.isOthers(prefix) ? prefix : 0;
            }
            case CmAddressee.Requested anybodys -> 0;
            case null -> 0;
        };
    }

    /** A defect in the connection manager or in a handler must not harm the queue pairs. */
    static void contain(Throwable defect) {
        EngineLog.log(LOG, System.Logger.Level.ERROR,
                () -> "the connection manager failed to handle a message", defect);
    }

    void onPeerReady(int queuePair) {
        try {
            manager.onPeerReady(queuePair);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** {@return whether to find out if any socket has the destination port of the last polled message} */
    boolean isAsking() {
        return manager.isAsking();
    }

    /** {@return whether the last polled message begins an exchange} */
    boolean isBeginning() {
        return manager.isBeginning();
    }

    /** Called when no socket has it. */
    void onUnreachable(long nowNs) {
        try {
            manager.onUnreachable(nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** The system reports why packets to a destination do not arrive. */
    void onUnreachable(Gid destination, Errno why, long nowNs) {
        try {
            manager.onUnreachable(destination, why, nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** A process of this host has ended. */
    void onProcessEnded(Gid address, IntPredicate hadQueuePair, long nowNs) {
        try {
            manager.onPeerEnded(address, hadQueuePair, nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    void onTime(long nowNs) {
        if (manager.deadlineNs() > nowNs) {
            return;
        }
        try {
            if (manager.onDeadline(nowNs)) {
                // The message may have reached a stopped process, which cannot report that it is not its own.
                sharing.onMisdirected(0);
            }
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    long deadlineNs() {
        return manager.deadlineNs();
    }

    boolean pollTransmit(OutgoingPacket out) {
        if (!manager.hasOutgoing()) {
            return false;
        }
        CmPeer peer = nextMessage();
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

    /** Writes the next message to send. {@return the addresses it travels between, null if there is none} */
    private @Nullable CmPeer nextMessage() {
        try {
            return manager.pollTransmit(messageView.clear());
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
            return null;
        }
    }
}
