package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.RoceProtocol;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.rc.RcQueuePair;
import io.rdma4j.protocol.roce.unreliable.UcQueuePair;
import io.rdma4j.protocol.roce.unreliable.UdQueuePair;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.Objects;

/** A queue pair of RoCE: its protocol, and where its packets come from and go. For the engine's owner. */
final class RoceQueuePair extends EngineQueuePair implements RoceHost {
    private final RoceLink link;
    private final PacketWays ways;
    private final Opcode.Service service;
    private final RoceProtocol protocol;
    private volatile Path path = Path.NONE;
    private volatile int destination;
    /** The way of the next packet through memory; of datagrams the way of the last. */
    private volatile @Nullable MemoryPath memoryPath;
    /** The {@link SharedMemory#version} that it was found for. */
    private int memoryVersion;
    private boolean isWayKnown;

    RoceQueuePair(RoceLink link, int number, QueuePairType type, QueuePairQueues queues,
            Memory memory, Listener listener) {
        super(link.engine(), number, queues, listener);
        this.link = link;
        ways = link.ways();
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

    /** {@return whether it takes packets that travelled between two addresses} Datagrams come from anywhere. */
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
            destination = attributes.destinationQueuePair();
            isWayKnown = false;
        }
        super.modify(attributes, next, nowNs);
    }

    // ---------------------------------------------------------------- ways through memory

    /** {@return the way of the next packet through memory, of datagrams that of the last; null if there is none} */
    @Nullable
    MemoryPath memoryPath() {
        MemoryPath known = memoryPath;
        return known != null && known.isOpen() ? known : null;
    }

    /** A datagram takes a way. */
    void memoryPath(@Nullable MemoryPath way) {
        if (!Objects.equals(way, memoryPath)) {
            memoryPath = way;
        }
    }

    @Override
    public String way() {
        Path leading = path;
        if (leading.equals(Path.NONE)) {
            return "";
        }
        return ways.way(this, leading, destination).text();
    }

    /** Finds the way of a queue pair that is connected. It changes between packets, never while one is made. */
    void findMemoryPath(SharedMemory shared) {
        if (service != Opcode.Service.UD && (!isWayKnown || memoryVersion != shared.version())) {
            memoryPath = shared.path(path, destination);
            memoryVersion = shared.version();
            isWayKnown = true;
        }
    }

    @Override
    protected int transmit(int most) {
        return link.transmit(this, most);
    }

    // ---------------------------------------------------------------- what the protocol asks and reports

    @Override
    public void peerIsReady() {
        link.onPeerReady(number());
    }

    @Override
    public int maxSegments(Path to, int mtu) {
        return ways.maxSegments(this, to, destination, mtu);
    }

    @Override
    public boolean isLossless(Path to) {
        return memoryPath() != null;
    }

    @Override
    public boolean isHeldUp() {
        return memoryPath() == null && link.isFull();
    }

    @Override
    public int maxMiddleSegments(Path to) {
        return ways.maxMiddleSegments(to);
    }

    @Override
    public RoundTripEstimate roundTrips(Path to) {
        return link.roundTrips(to);
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        FlightEvents.retransmission(number(), psn, cause);
    }

    @Override
    public void count(Counter counter) {
        super.count(counter);
        if (counter.isDrop()) {
            FlightEvents.drop(counter, link.packetSource(), number());
        } else if (counter == Counter.SEND_RNR_ERR || counter == Counter.RCVD_RNR_ERR) {
            FlightEvents.receiverNotReady(number(), counter == Counter.SEND_RNR_ERR);
        }
    }
}
