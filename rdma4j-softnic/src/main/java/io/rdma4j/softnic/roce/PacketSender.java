package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Counter;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.List;

/** Sends what queue pairs and the connection manager have to send, each packet on its {@link PacketWays way}. For the engine's owner. */
final class PacketSender {
    /** A full socket says nothing when it has room again: look soon. */
    private static final long RETRY_FULL_NS = 1_000_000;

    private final Engine engine;
    private final DatagramNetwork network;
    private final ManagementPort management;
    private final PacketDispatcher dispatcher;
    private final PacketWays ways;
    private final @Nullable SharedMemory memory;
    private final OutgoingPacket outgoing;
    private boolean isPortFull;
    private boolean isUnflushed;

    PacketSender(DatagramNetwork network, Engine engine, PacketWays ways,
            ManagementPort management, PacketDispatcher dispatcher, Arena arena) {
        this.network = network;
        this.engine = engine;
        this.ways = ways;
        this.management = management;
        this.dispatcher = dispatcher;
        memory = network.sharedMemory();
        outgoing = new OutgoingPacket(arena.allocate(Opcode.MAX_HEADER_LENGTH, 64));
    }

    /** As {@link RoceLink#beginTransmit}. */
    boolean begin(long nowNs) {
        if (isPortFull && !flush()) {
            return false;
        }
        isPortFull = !network.pollDue(nowNs);
        ways.goOn(nowNs);
        while (!isPortFull && management.pollTransmit(outgoing)) {
            send(null);
        }
        if (isPortFull) {
            outgoing.release();
        }
        return !isPortFull;
    }

    /** {@return whether a port takes nothing more} */
    boolean isFull() {
        return isPortFull;
    }

    /** Sends packets of a queue pair. {@return how many} */
    int transmit(RoceQueuePair queuePair, int most) {
        int sent = 0;
        while (sent < most && !isPortFull && ways.find(queuePair) && pollTransmit(queuePair)) {
            sent += outgoing.span();
            send(queuePair);
        }
        return sent;
    }

    private boolean pollTransmit(RoceQueuePair queuePair) {
        try {
            return queuePair.protocol().pollTransmit(outgoing, engine.timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine.contain(queuePair, defect);
            return false;
        }
    }

    /** Ports gather packets to send them together, and readers of memory are woken once. As {@link RoceLink#endTransmit}. */
    boolean end() {
        outgoing.release();
        if (memory != null) {
            memory.flush();
        }
        return !isUnflushed || isPortFull || flush();
    }

    private boolean flush() {
        boolean isFlushed = true;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            isFlushed &= ports.get(i).flush();
            engine.counters().add(Counter.SEND_ERR, ports.get(i).takeRefused());
        }
        isUnflushed = !isFlushed;
        isPortFull = !isFlushed;
        return isFlushed;
    }

    /** {@return when to look whether a full port has room, {@link Long#MAX_VALUE} for never} */
    long deadlineNs() {
        return isPortFull ? engine.timeNs() + RETRY_FULL_NS : Long.MAX_VALUE;
    }

    // ---------------------------------------------------------------- one packet

    /** Sends the outgoing packet; null is the connection manager. */
    private void send(@Nullable RoceQueuePair queuePair) {
        boolean isToItself = ways.staysHere(outgoing.path(), outgoing.destinationQueuePair());
        MemoryPath way = queuePair == null || isToItself
                ? null
                : ways.memoryPath(queuePair, outgoing);
        int packets = outgoing.span();
        int length = isToItself || way != null
                ? outgoing.totalLength()
                : packets * outgoing.packetLength();
        PacketPort.Sent result;
        try {
            if (isToItself) {
                result = dispatcher.onOwn(outgoing)
                        ? PacketPort.Sent.SENT
                        : PacketPort.Sent.PAYLOAD_GONE;
            } else {
                result = way == null
                        ? sendFromPort(queuePair == null)
                        : way.send(outgoing, engine.timeNs());
            }
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
            result = PacketPort.Sent.REFUSED;
        }
        switch (result) {
            case SENT, KEPT, UNREACHABLE -> {
                count(queuePair, Counter.SENT_PKTS, packets);
                count(queuePair, Counter.SENT_BYTES, length);
            }
            case REFUSED -> count(queuePair, Counter.SEND_ERR, packets);
            case PAYLOAD_GONE -> onPayloadGone(queuePair);
        }
        isPortFull |= result == PacketPort.Sent.KEPT;
        if (result == PacketPort.Sent.UNREACHABLE) {
            // A message of the connection manager: nobody has the port that it went to.
            management.onUnreachable(engine.timeNs());
        }
    }

    private PacketPort.Sent sendFromPort(boolean isManagement) {
        PacketPort port = network.port(outgoing.path().source());
        if (port == null) {
            return PacketPort.Sent.REFUSED;
        }
        isUnflushed = true;
        // What this device itself holds is there; the others are asked for.
        boolean asks = isManagement && management.isAsking()
                && !ways.isOwn(outgoing.path().destination());
        return asks ? port.sendAsking(outgoing) : port.send(outgoing);
    }

    private void contain(@Nullable RoceQueuePair queuePair, Throwable defect) {
        if (queuePair == null) {
            ManagementPort.contain(defect);
        } else {
            engine.contain(queuePair, defect);
        }
    }

    /** What the connection manager sends lies in memory of its own. */
    private void onPayloadGone(@Nullable RoceQueuePair queuePair) {
        if (queuePair == null) {
            return;
        }
        try {
            queuePair.protocol().onPayloadGone();
        } catch (RuntimeException | InternalError defect) {
            engine.contain(queuePair, defect);
        }
    }

    private void count(@Nullable RoceQueuePair queuePair, Counter counter, long amount) {
        if (queuePair == null) {
            engine.counters().add(counter, amount);
        } else {
            queuePair.count(counter, amount);
        }
    }
}
