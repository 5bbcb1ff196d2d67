package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.Link;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntSupplier;

/**
 * RoCE on a datagram network: packets between the ports of the network and the queue pairs, management datagrams, groups,
 * and what a device sends to itself. For the engine's owner.
 */
public final class RoceLink implements Link {
    private static final System.Logger LOG = System.getLogger(RoceLink.class.getName());
    /** A full socket says nothing when it has room again: look soon. */
    private static final long RETRY_FULL_NS = 1_000_000;
    /** Who reads shared memory tells when there is room again, unless it has died. */
    private static final long LOOK_AFTER_NS = 50_000_000;
    /** 1 MiB at the longest path MTU: short enough for others to get their turn. */
    private static final int MAX_OWN_SEGMENTS = RegisteredMemory.MAX_ACCESS
            / Mtu.MTU_4096.bytes();

    private final Engine engine;
    private final DatagramNetwork network;
    private final PortSharing sharing;
    private final Function<AddressHandleAttributes, Path> paths;
    private final ManagementPort management;
    private final MulticastGroups groups = new MulticastGroups();
    private final PacketDispatcher dispatcher;
    private final PeerRoundTrips peers = new PeerRoundTrips();
    private final PacketReceiver receiver;
    private final OutgoingPacket outgoing;
    private final @Nullable SharedMemory memory;
    /** Those that have something to send to a process that has no room. */
    private final List<RoceQueuePair> heldUp = new ArrayList<>();
    private boolean skipsNetwork;
    private boolean isPortFull;
    private boolean isUnflushed;

    /**
     * @param random numbers that others cannot guess, for the engine's queue pairs
     * @param paths how packets travel by an address vector
     */
    public RoceLink(DatagramNetwork network, IbConnectionManager connectionManager,
            IntSupplier random, Function<AddressHandleAttributes, Path> paths) {
        sharing = network.sharing();
        engine = sharing.isShared()
                ? new Engine(random, sharing.prefix(), this)
                : new Engine(random, this);
        this.network = network;
        this.paths = paths;
        Arena arena = Arena.ofAuto();
        connectionManager.identifierPrefix(sharing.prefix());
        management = new ManagementPort(connectionManager, arena);
        dispatcher = new PacketDispatcher(this, engine, groups, management, arena);
        memory = network.sharedMemory();
        receiver = new PacketReceiver(network, dispatcher);
        outgoing = new OutgoingPacket(arena.allocate(Opcode.MAX_HEADER_LENGTH, 64));
    }

    /** {@return the engine whose queue pairs send and receive here} */
    public Engine engine() {
        return engine;
    }

    /** Says whether packets from one address of this device to another stay in memory. Before the first packet. */
    public void skipNetwork(boolean isSkipped) {
        skipsNetwork = isSkipped;
    }

    /** {@return a queue pair that sends and receives here} */
    public EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener) {
        return new RoceQueuePair(this, engine, number, type, queues, memory, listener);
    }

    /** {@return what takes the packets that arrive} */
    public PacketHandler handler() {
        return dispatcher;
    }

    /** {@return how packets travel by an address vector} */
    Path path(AddressHandleAttributes attributes) {
        return paths.apply(attributes);
    }

    // ---------------------------------------------------------------- multicast groups

    /**
     * Makes a queue pair a member of a group whose packets arrive already.
     *
     * @param blocksMulticastLoopback whether its own datagrams are kept from it
     */
    public void join(Gid group, EngineQueuePair queuePair, boolean blocksMulticastLoopback) {
        groups.join(group, (RoceQueuePair) queuePair, blocksMulticastLoopback);
    }

    /** Ends a membership. {@return whether the group has lost its last member} */
    public boolean leave(Gid group, EngineQueuePair queuePair) {
        return groups.leave(group, (RoceQueuePair) queuePair);
    }

    // ---------------------------------------------------------------- receiving

    @Override
    public boolean receive(long nowNs, boolean isOften) {
        return receiver.receive(nowNs, isOften);
    }

    @Override
    public boolean hasReceived() {
        return receiver.hasReceived();
    }

    /** {@return whether a queue pair's number is one of this process, and not of another that shares the port} */
    boolean isOwn(int queuePair) {
        return sharing.isOwn(queuePair);
    }

    /** As {@link PortSharing#onAstray}. */
    void onAstray(int queuePair) {
        sharing.onAstray(queuePair);
    }

    /** {@return where the last packet came from} */
    Gid packetSource() {
        return dispatcher.source();
    }

    @Override
    public void onTime(long nowNs) {
        try {
            management.onTime(nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** The peer of a queue pair sends requests: its connection stands. */
    void onPeerReady(int queuePair) {
        try {
            management.onPeerReady(queuePair);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** A defect in the connection manager, or in who hears from it, must not harm the queue pairs. */
    static void contain(Throwable defect) {
        LOG.log(System.Logger.Level.ERROR, "the connection manager failed to handle a message",
                defect);
    }

    // ---------------------------------------------------------------- sending

    @Override
    public boolean beginTransmit(long nowNs) {
        if (isPortFull && !flush()) {
            return false;
        }
        isPortFull = !network.pollDue(nowNs);
        goOnWithHeldUp(nowNs);
        while (!isPortFull && management.pollTransmit(outgoing)) {
            send(null);
        }
        if (isPortFull) {
            outgoing.release();
        }
        return !isPortFull;
    }

    @Override
    public boolean isFull() {
        return isPortFull;
    }

    /** Sends packets of a queue pair. {@return how many} */
    int transmit(RoceQueuePair queuePair, int most) {
        int sent = 0;
        while (sent < most && !isPortFull && findWay(queuePair) && pollTransmit(queuePair)) {
            sent += outgoing.span();
            send(queuePair);
        }
        return sent;
    }

    /**
     * Finds the way of a queue pair's next packet, if it can be known: datagrams go anywhere, and it is known of the last.
     *
     * @return false if that way has no room; then the queue pair is noted
     */
    private boolean findWay(RoceQueuePair queuePair) {
        SharedMemory shared = memory;
        if (shared == null) {
            return true;
        }
        queuePair.findMemoryPath(shared);
        if (mayGoOn(queuePair, engine.timeNs())) {
            return true;
        }
        if (!heldUp.contains(queuePair)) {
            heldUp.add(queuePair);
        }
        return false;
    }

    /** Queue pairs go on to send where there is room again. */
    private void goOnWithHeldUp(long nowNs) {
        for (int i = heldUp.size() - 1; i >= 0; i--) {
            if (mayGoOn(heldUp.get(i), nowNs)) {
                engine.touched(heldUp.remove(i));
            }
        }
    }

    /** {@return whether a queue pair can send} Reliable ones wait for a reader that lives: its packets would only come again. */
    private static boolean mayGoOn(RoceQueuePair queuePair, long nowNs) {
        MemoryPath way = queuePair.memoryPath();
        return way == null || way.hasRoom(nowNs)
                || (way.isStandingStill() && queuePair.service() != Opcode.Service.RC);
    }

    private boolean pollTransmit(RoceQueuePair queuePair) {
        try {
            return queuePair.protocol().pollTransmit(outgoing, engine.timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine.contain(queuePair, defect);
            return false;
        }
    }

    /** Ports gather packets to send them together. */
    @Override
    public boolean endTransmit() {
        outgoing.release();
        if (memory != null) {
            memory.flush();
        }
        return !isUnflushed || isPortFull || flush();
    }

    /** Sends the outgoing packet. */
    private void send(@Nullable RoceQueuePair queuePair) {
        boolean isToItself = staysHere(outgoing.path(), outgoing.destinationQueuePair());
        MemoryPath way = queuePair == null || isToItself ? null : memoryPath(queuePair);
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
            onUnreachable();
        }
    }

    /** {@return the way of the outgoing packet through memory, null if it takes none} */
    private @Nullable MemoryPath memoryPath(RoceQueuePair queuePair) {
        SharedMemory shared = memory;
        if (shared != null && queuePair.service() == Opcode.Service.UD) {
            queuePair.memoryPath(
                    shared.path(outgoing.path(), outgoing.destinationQueuePair()));
        }
        return queuePair.memoryPath();
    }

    private PacketPort.Sent sendFromPort(boolean isManagement) {
        PacketPort port = network.port(outgoing.path().source());
        if (port == null) {
            return PacketPort.Sent.REFUSED;
        }
        isUnflushed = true;
        // What this device itself holds is there; the others are asked for.
        boolean asks = isManagement && management.isAsking()
                && !isOwn(outgoing.path().destination());
        return asks ? port.sendAsking(outgoing) : port.send(outgoing);
    }

    private void contain(@Nullable RoceQueuePair queuePair, Throwable defect) {
        if (queuePair == null) {
            contain(defect);
        } else {
            engine.contain(queuePair, defect);
        }
    }

    /** Nobody has the port that a message of the connection manager went to. */
    private void onUnreachable() {
        try {
            management.onUnreachable(engine.timeNs());
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
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

    private void count(@Nullable RoceQueuePair queuePair, Counter counter, long amount) {
        if (queuePair == null) {
            engine.counters().add(counter, amount);
        } else {
            queuePair.count(counter, amount);
        }
    }

    // ---------------------------------------------------------------- paths

    /**
     * {@return how many packets of a message may go as one: back to this device, and through memory, several}
     *
     * @param queuePair that sends, and is connected
     * @param destination the queue pair that the path leads to
     * @param mtu bytes of a packet's payload
     */
    int maxSegments(RoceQueuePair queuePair, Path path, int destination, int mtu) {
        if (staysHere(path, destination)) {
            return MAX_OWN_SEGMENTS;
        }
        MemoryPath way = queuePair.memoryPath();
        return way == null ? 1 : way.maxPayload() / mtu;
    }

    /** {@return how the packets of a queue pair that is connected travel at present} For any thread. */
    Loopback way(RoceQueuePair queuePair, Path path, int destination) {
        if (staysHere(path, destination)) {
            return Loopback.DIRECT;
        }
        return queuePair.memoryPath() == null ? Loopback.NETWORK : Loopback.SHARED;
    }

    /** {@return how many middle packets of a message may go as one on a path that leads to a network} */
    int maxMiddleSegments(Path path) {
        PacketPort port = network.port(path.source());
        return port == null ? 1 : port.maxMiddleSegments();
    }

    /** {@return what queue pairs have learnt of the round trips to the end of a path} */
    RoundTripEstimate roundTrips(Path path) {
        return peers.roundTrips(path.destination());
    }

    /**
     * {@return whether a path leads back to this device, and not to another process that shares its address, so that the
     * network need not be bothered} Which process listens at a service the network knows.
     */
    private boolean staysHere(Path path, int queuePair) {
        Gid destination = path.destination();
        return skipsNetwork && !destination.isMulticast() && sharing.isOwn(queuePair)
                && isOwn(destination);
    }

    /** {@return whether an address is this device's} */
    boolean isOwn(Gid address) {
        return network.port(address) != null;
    }

    // ---------------------------------------------------------------- time and waiting

    @Override
    public long deadlineNs() {
        long earliest = Math.min(network.nextDueNs(), management.deadlineNs());
        if (isPortFull || !heldUp.isEmpty()) {
            boolean isPatient = !isPortFull && isAnyStandingStill();
            earliest = Math.min(earliest,
                    engine.timeNs() + (isPatient ? LOOK_AFTER_NS : RETRY_FULL_NS));
        }
        return earliest;
    }

    private boolean isAnyStandingStill() {
        for (int i = 0; i < heldUp.size(); i++) {
            MemoryPath way = heldUp.get(i).memoryPath();
            if (way != null && way.isStandingStill()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public void wake() {
        network.wake();
    }
}
