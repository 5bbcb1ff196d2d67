// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.RoceProtocol;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.rc.RcQueuePair;
import io.rdma4j.protocol.roce.unreliable.UcQueuePair;
import io.rdma4j.protocol.roce.unreliable.UdQueuePair;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketLength;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.EngineLog;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.observe.jfr.PacketEvents;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.Objects;

/** A RoCE queue pair: its protocol, and the path of its packets. For the engine's owner. */
final class RoceQueuePair extends EngineQueuePair implements RoceHost {
    private static final System.Logger LOG = System.getLogger(RoceQueuePair.class.getName());
    /** How long a peer may be without a receive until somebody wants to know. */
    private static final long LONG_NS = 2_000_000_000L;
    /** 1 MiB at the longest path MTU: short enough for others to get their turn. */
    private static final int MAX_OWN_SEGMENTS = RegisteredMemory.MAX_ACCESS
            / Mtu.MTU_4096.bytes();

    /** So that the number of no process is {@link EngineQueuePair#ALONE}. */
    private static final long OF_PROCESS = 1L << (Integer.SIZE - 1);

    private final RoceLink link;
    private final Opcode.Service service;
    private final RoceProtocol protocol;
    private volatile Path path = Path.NONE;
    private volatile int destination;
    private Mtu pathMtu = Mtu.MTU_256;
    /** The path of the last datagram: each may go elsewhere. */
    private Path lastPath = Path.NONE;
    /** The way of the next packet through memory; of datagrams the way of the last. */
    private volatile @Nullable MemoryPath memoryPath;
    /** The {@link SharedMemory#version} that it was found for. */
    private int memoryVersion;
    private boolean isWayKnown;
    /** Whether the last packet of several segments was lent: those that follow probably will be as well. */
    private boolean isLending;
    /** Whether the log has that the peer is without a receive. */
    private boolean isLackLogged;

    RoceQueuePair(RoceLink link, int number, QueuePairType type, QueuePairQueues queues,
            Memory memory, Listener listener) {
        super(link.engine(), number, queues, listener);
        this.link = link;
        service = service(type);
        protocol = switch (service) {
            case RC -> new RcQueuePair(queues.sends(), queues.receives(), memory, this);
            case UC -> new UcQueuePair(queues.sends(), queues.receives(), memory, this);
            case UD -> new UdQueuePair(number, queues.sends(), queues.receives(), memory, this);
            case CONGESTION -> throw new IllegalArgumentException("no queue pair has it");
        };
    }

    private static Opcode.Service service(QueuePairType type) {
        return switch (type) {
            case RC -> Opcode.Service.RC;
            case UC -> Opcode.Service.UC;
            case UD -> Opcode.Service.UD;
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> throw new IllegalArgumentException(
                    "RoCE in software offers types RC, UC and UD, not " + type);
        };
    }

    @Override
    public RoceProtocol protocol() {
        return protocol;
    }

    Opcode.Service service() {
        return service;
    }

    /** {@return whether it accepts packets between two addresses} A UD queue pair accepts datagrams from any address. */
    boolean isFrom(Gid packetLocal, Gid packetPeer) {
        return service == Opcode.Service.UD
                || (packetPeer.equals(path.destination()) && packetLocal.equals(path.source()));
    }

    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs)
            throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.ADDRESS_VECTOR)) {
            path = link.path(attributes.addressVector());
            protocol.route(path);
            isWayKnown = false;
        }
        if (attributes.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)) {
            destination = attributes.destinationQueuePairNumber();
            isWayKnown = false;
        }
        if (attributes.isSet(QueuePairAttribute.PATH_MTU)) {
            pathMtu = attributes.pathMtu();
        }
        super.modify(attributes, next, nowNs);
        if (next == QueuePairState.RTR) {
            link.watchPeer(path, destination);
        }
    }

    // ---------------------------------------------------------------- the way of its packets

    /**
     * Finds the path of the next packet. For datagrams, which may go anywhere, only the path of the last one is known. The
     * path changes between packets, never while a packet is built.
     *
     * @param shared the memory shared with other processes
     */
    void findWay(SharedMemory shared) {
        if (service == Opcode.Service.UD) {
            return;
        }
        // Read once, and first: a way that was found before a change must not count as found after it.
        int version = shared.version();
        if (!isWayKnown || memoryVersion != version) {
            memoryPath = shared.path(path, destination);
            memoryVersion = version;
            isWayKnown = true;
        }
    }

    /** A packet of several segments has left, whose payload was lent or copied. */
    void sentLong(boolean isLent) {
        isLending = isLent;
    }

    /** {@return the way through memory of a packet that is about to leave this device, null if there is none} */
    @Nullable
    MemoryPath way(OutgoingPacket packet, @Nullable SharedMemory shared) {
        if (service == Opcode.Service.UD) {
            lastPath = packet.path();
            MemoryPath found = shared == null ? null
                    : shared.path(packet.path(), packet.destinationQueuePairNumber());
            if (!Objects.equals(found, memoryPath)) {
                memoryPath = found;
            }
        }
        return memoryPath();
    }

    /** {@return the path of the next packet through memory, for datagrams that of the last one; null if there is none} */
    @Nullable
    MemoryPath memoryPath() {
        MemoryPath known = memoryPath;
        return known != null && known.isOpen() ? known : null;
    }

    /**
     * {@return whether its path has room} A reliable queue pair waits for a live reader: it would only have to send lost
     * packets again.
     */
    boolean hasRoom(long nowNs) {
        MemoryPath way = memoryPath();
        return way == null || way.hasRoom(nowNs)
                || (way.isStandingStill() && mayLose());
    }

    /** A reliable queue pair that is not connected waits for nobody; if it has failed, it may have a last response to send. */
    private boolean mayLose() {
        return service != Opcode.Service.RC || switch (protocol.state()) {
            case RESET, INIT, ERR -> true;
            case RTR, RTS, SQD, SQE -> false;
        };
    }

    /** {@return whether the reader at the end of its path has stopped reading} */
    boolean isReaderStandingStill() {
        MemoryPath way = memoryPath();
        return way != null && way.isStandingStill();
    }

    @Override
    public String way() {
        Path leading = path;
        if (leading.equals(Path.NONE)) {
            return "";
        }
        Loopback kind = memoryPath() == null ? Loopback.NETWORK : Loopback.SHARED;
        return (link.staysHere(leading, destination) ? Loopback.DIRECT : kind).text();
    }

    @Override
    protected int transmit(int most) {
        return link.transmit(this, most);
    }

    /** On a path through memory round trips are not measured, and a time-out may be a little longer. */
    @Override
    protected long tick() {
        return service == Opcode.Service.RC ? link.tick(this) : NO_TICK;
    }

    /** Of datagrams each may go elsewhere. */
    @Override
    protected long together() {
        return service == Opcode.Service.UD || !link.sendsTogether(this, path, destination)
                ? ALONE
                : (long) path.destination().hashCode() << Integer.SIZE | OF_PROCESS
                        | destination >>> PortSharing.QUEUE_PAIR_BITS;
    }

    @Override
    public void answerFirst() {
        if (protocol instanceof RcQueuePair reliable) {
            reliable.answerFirst();
        }
    }

    @Override
    protected void onDetached() {
        withdrawPayloads();
        link.onDetached(this);
    }

    // ---------------------------------------------------------------- what the protocol asks and reports

    @Override
    public void peerIsReady() {
        link.onPeerReady(number());
    }

    @Override
    public int maxSegments(Path to, int mtu) {
        if (link.staysHere(to, destination)) {
            return MAX_OWN_SEGMENTS;
        }
        MemoryPath way = memoryPath();
        return way == null ? 1 : (isLending ? way.maxPayload() : way.bestCopiedPayload()) / mtu;
    }

    @Override
    public boolean isLossless(Path to) {
        return memoryPath() != null;
    }

    @Override
    public long mostBehindNs() {
        return link.hasTicks() ? SharedMemory.LONGEST_TICK_NS : 0;
    }

    @Override
    public boolean piggybacks(Path to) {
        return memoryPath() != null || link.staysHere(to, destination);
    }

    @Override
    public boolean sendsInTurns() {
        return link.engine().sendsInTurns();
    }

    @Override
    public void withdrawPayloads() {
        link.withdrawRequests(destination);
    }

    /** Memory loses nothing: a process that lives and does not answer is stopped, or its JVM pauses, and answers when it goes on. */
    @Override
    public boolean isHeldUp() {
        MemoryPath way = memoryPath();
        return way == null ? link.isNetworkFull() : way.isReaderAlive();
    }

    @Override
    public int maxMiddleSegments(Path to) {
        return link.maxMiddleSegments(to);
    }

    @Override
    public RoundTripEstimate roundTrips(Path to) {
        return link.roundTrips(to);
    }

    @Override
    public void peerHasNoReceive(long forNs) {
        if (forNs < LONG_NS) {
            isLackLogged &= forNs > 0;
            return;
        }
        if (!isLackLogged) {
            isLackLogged = true;
            EngineLog.log(LOG, System.Logger.Level.WARNING, () -> String.format(Locale.ROOT,
                    "queue pair 0x%06x has waited two seconds because its peer, queue pair 0x%06x of"
                            + " %s, has no receive for its oldest send: a receive must be posted"
                            + " there, before the message comes (postReceive)",
                    number(), destination, path.destination().addressText()), null);
        }
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        PacketEvents.retransmission(number(), psn, cause);
        if (memoryPath() == null && isSilence(cause)) {
            link.onSilence();
        }
    }

    private static boolean isSilence(RetransmissionCause cause) {
        return switch (cause) {
            case TIMEOUT, RTT_ESTIMATE -> true;
            case PROBE, SEQUENCE_NAK, IMPLIED_NAK -> false;
        };
    }

    /** Why nobody acknowledges, as far as this host knows it. */
    @Override
    protected @Nullable String detail(WorkCompletionStatus status) {
        return status == WorkCompletionStatus.RETRY_EXCEEDED_ERROR ? sendRefusal() : null;
    }

    @Override
    public @Nullable String sendRefusal() {
        if (memoryPath != null) {
            return null;
        }
        if (service != Opcode.Service.UD) {
            String tooLong = tooLongPackets();
            return tooLong == null ? reported(path) : tooLong;
        }
        return reported(lastPath);
    }

    private @Nullable String reported(Path of) {
        Errno why = link.unreachable(of);
        return why == null
                ? null
                : "this host's system says of packets to "
                        + of.destination().address().getHostAddress() + ": "
                        + SystemErrors.text(why.number());
    }

    /** {@return what is wrong with the path MTU} Packets too long for a network on the way are lost like others, but always. */
    private @Nullable String tooLongPackets() {
        boolean isIpv4 = path.destination().isIpv4();
        int longest = PacketLength.longest(pathMtu, isIpv4);
        int passing = link.longestPacket(path);
        return longest <= passing
                ? null
                : "packets of " + longest + " bytes do not get through to "
                        + path.destination().address().getHostAddress() + ": the path's MTU is "
                        + passing + "; use path MTU "
                        + PacketLength.largestMtu(passing, isIpv4).bytes();
    }

    @Override
    public void count(Counter counter) {
        super.count(counter);
        if (counter.isDrop()) {
            PacketEvents.drop(counter, link.packetSource(), number());
        } else if (counter == Counter.SEND_RNR_ERR || counter == Counter.RCVD_RNR_ERR) {
            PacketEvents.receiverNotReady(number(), counter == Counter.SEND_RNR_ERR);
        }
    }
}
