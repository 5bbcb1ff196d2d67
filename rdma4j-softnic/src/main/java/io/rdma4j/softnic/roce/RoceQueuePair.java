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
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** A queue pair of RoCE: its protocol, and where its packets come from and go. For the engine's owner. */
final class RoceQueuePair extends EngineQueuePair implements RoceHost {
    private final RoceLink link;
    private final Opcode.Service service;
    private final RoceProtocol protocol;
    private @Nullable Gid local;
    private @Nullable Gid peer;
    private int destination;

    RoceQueuePair(RoceLink link, Engine engine, int number, QueuePairType type,
            QueuePairQueues queues, Memory memory, Listener listener) {
        super(engine, number, queues, listener);
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

    /** {@return whether it takes packets that travelled between two addresses} Datagrams come from anywhere. */
    boolean isFrom(Gid packetLocal, Gid packetPeer) {
        return service == Opcode.Service.UD
                || (packetPeer.equals(peer) && packetLocal.equals(local));
    }

    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs)
            throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.ADDRESS_VECTOR)) {
            Path path = link.path(attributes.addressVector());
            local = path.source();
            peer = path.destination();
            protocol.route(path);
        }
        if (attributes.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)) {
            destination = attributes.destinationQueuePair();
        }
        super.modify(attributes, next, nowNs);
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
    public int maxSegments(Path path) {
        return link.maxSegments(path, destination);
    }

    @Override
    public int maxMiddleSegments(Path path) {
        return link.maxMiddleSegments(path);
    }

    @Override
    public RoundTripEstimate roundTrips(Path path) {
        return link.roundTrips(path);
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
