// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.Link;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.nio.channels.Selector;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntSupplier;

/**
 * RoCE on a datagram network. It sends the packets of queue pairs and the connection manager: back to this device, through
 * shared memory to another process, or from a port. A {@link PacketReceiver} takes the packets that arrive. For the engine's
 * owner.
 */
final class RoceLink implements Link {
    /** A full socket does not report when it has room again, so it is tried again soon. */
    private static final long RETRY_FULL_NS = 1_000_000;

    private final Engine engine;
    private final DatagramNetwork network;
    private final Function<AddressHandleAttributes, Path> paths;
    private final PeerRoundTrips peers = new PeerRoundTrips();
    private final ManagementPort management;
    private final PortSharing sharing;
    private final BlockedQueuePairs blocked;
    private final PacketDispatcher dispatcher;
    private final PacketReceiver receiver;
    private final FullPorts ports;
    private final Unreachables unreachables;
    private final @Nullable SharedMemory memory;
    private final Arena arena = Arena.ofShared();
    private final OutgoingPacket outgoing = new OutgoingPacket();
    private boolean isPortFull;
    private boolean isUnflushed;
    private boolean skipsNetwork;
    private boolean isClosed;

    /**
     * @param random numbers that others cannot guess
     * @param numbers the queue pair numbers and communication identifiers
     * @param paths how packets travel by an address vector
     */
    RoceLink(DatagramNetwork network, IbConnectionManager connectionManager,
            MulticastGroups groups, IntSupplier random, ProcessNumbers numbers,
            Function<AddressHandleAttributes, Path> paths) {
        sharing = network.sharing();
        engine = new Engine(random, numbers.queuePairs(), this);
        this.network = network;
        this.paths = paths;
        memory = network.sharedMemory();
        connectionManager.identifiers(sharing.prefix(), numbers::nextIdentifier);
        blocked = new BlockedQueuePairs(engine);
        try {
            management = new ManagementPort(connectionManager, sharing, arena);
            dispatcher = new PacketDispatcher(engine, network, groups, management, arena);
        } catch (OutOfMemoryError none) {
            arena.close();
            throw none;
        }
        receiver = new PacketReceiver(network, dispatcher, dispatcher);
        unreachables = new Unreachables(network, engine::timeNs);
        ports = new FullPorts(network, engine.counters(), unreachables);
    }

    /** The device gives an address up. */
    void leave(Gid address) {
        network.leave(address);
        dispatcher.forgetAddress();
    }

    /** Offers its device the memory that other processes can be lent. */
    void lend(TransportHost host) {
        if (memory != null) {
            host.lend(memory.lendable());
        }
    }

    /** {@return the engine of its queue pairs} */
    Engine engine() {
        return engine;
    }

    /** {@return the handler of received packets} */
    PacketHandler handler() {
        return dispatcher;
    }

    /** As {@link RoceTransport#skipNetwork}. */
    void skipNetwork(boolean isSkipped) {
        skipsNetwork = isSkipped;
    }

    // ---------------------------------------------------------------- what queue pairs ask

    /** {@return how packets travel by an address vector} */
    Path path(AddressHandleAttributes attributes) {
        return paths.apply(attributes);
    }

    /**
     * {@return whether a path leads back to this device, and not to another process that shares its address, so that packets
     * can bypass the network} Not for the connection manager's messages, whose process the network finds.
     */
    boolean staysHere(Path path, int queuePair) {
        return skipsNetwork && !path.destination().isMulticast() && sharing.isOwn(queuePair)
                && network.port(path.destination()) != null;
    }

    /** {@return how many middle packets of a message can be sent as one on a path through the network} */
    int maxMiddleSegments(Path path) {
        PacketPort port = network.port(path.source());
        return port == null ? 1 : port.maxMiddleSegments();
    }

    /** {@return whether the next packets of a queue pair leave from a port, and together with those of others to the same process} */
    boolean sendsTogether(RoceQueuePair queuePair, Path path, int destination) {
        if (memory != null) {
            queuePair.findWay(memory);
        }
        if (queuePair.memoryPath() != null || staysHere(path, destination)) {
            return false;
        }
        PacketPort port = network.port(path.source());
        return port != null && port.sendsTogether(path.destination());
    }

    /** {@return the bytes of the longest packet that passes on a path, as far as the system knows} */
    int longestPacket(Path path) {
        return network.longestPacket(path.source(), path.destination());
    }

    /** {@return the estimate of the round-trip time to the end of a path} */
    RoundTripEstimate roundTrips(Path path) {
        return peers.roundTrips(path.destination());
    }

    /** The peer of a queue pair sends requests: its connection stands. */
    void onPeerReady(int queuePair) {
        management.onPeerReady(queuePair);
    }

    /**
     * The network path of a queue pair has been silent for long: its packets may reach a stopped process, which cannot
     * report that they are not its own.
     */
    void onSilence() {
        sharing.onMisdirected(0);
    }

    /** {@return why packets to the end of a path have not arrived lately, as this host's system says; null if it does not} */
    @Nullable
    Errno unreachable(Path path) {
        unreachables.look();
        return unreachables.last(path.destination());
    }

    /** {@return whether the network accepts nothing at present} */
    boolean isNetworkFull() {
        return isPortFull || ports.isStandingStill();
    }

    /** {@return the source address of the last packet} */
    Gid packetSource() {
        return dispatcher.source();
    }

    /** {@return whether a queue pair may have a tick} */
    boolean hasTicks() {
        return memory != null && memory.tick() != SharedMemory.NO_TICK;
    }

    /** {@return the tick for a queue pair whose next packet takes a path through memory, unless a blocked one may send before it} */
    long tick(RoceQueuePair queuePair) {
        if (memory == null || !blocked.isEmpty()) {
            return EngineQueuePair.NO_TICK;
        }
        queuePair.findWay(memory);
        long tick = queuePair.memoryPath() == null ? SharedMemory.NO_TICK : memory.tick();
        return tick == SharedMemory.NO_TICK ? EngineQueuePair.NO_TICK : tick;
    }

    /** A queue pair is connected: its connection ends with the process of its peer, where this host knows of that. */
    void watchPeer(Path path, int queuePair) {
        if (memory != null) {
            memory.watch(path, queuePair);
        }
    }

    /** Requests to a queue pair end without having been acknowledged. */
    void withdrawRequests(int queuePair) {
        if (memory != null) {
            memory.withdrawRequests(queuePair);
        }
    }

    /** A queue pair is closed. */
    void onDetached(RoceQueuePair queuePair) {
        blocked.remove(queuePair);
    }

    // ---------------------------------------------------------------- receiving

    @Override
    public boolean receive(long nowNs, boolean isOften) {
        if (isClosed) {
            free();
            return false;
        }
        return receiver.receive(nowNs, isOften);
    }

    @Override
    public boolean hasReceived() {
        return receiver.hasReceived();
    }

    @Override
    public boolean isQuiet() {
        return memory != null && receiver.isAtMemory() && !isPortFull && blocked.isEmpty()
                && memory.isQuiet();
    }

    @Override
    public void onTime(long nowNs) {
        if (!isClosed && management.deadlineNs() <= nowNs) {
            unreachables.look();
        }
        if (memory != null && receiver.hasAllOfEnded()) {
            memory.reportEnded((address, hadQueuePair) -> management.onProcessEnded(address,
                    hadQueuePair, nowNs));
        }
        if (unreachables.hasNew()) {
            unreachables.reportTo((destination, why) -> management.onUnreachable(destination, why,
                    nowNs));
        }
        management.onTime(nowNs);
    }

    // ---------------------------------------------------------------- sending

    @Override
    public boolean beginTransmit(long nowNs) {
        if (isClosed) {
            free();
            return false;
        }
        if (isPortFull && !flush()) {
            return false;
        }
        isPortFull = !network.pollDue(nowNs);
        blocked.goOn(nowNs);
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
        if (memory != null) {
            queuePair.findWay(memory);
        }
        int sent = 0;
        boolean isMore = true;
        while (isMore && sent < most && !isPortFull && hasRoom(queuePair)
                && pollTransmit(queuePair)) {
            sent += outgoing.span();
            send(queuePair);
            isMore = queuePair.protocol().mayTransmit();
        }
        return sent;
    }

    /** {@return whether the path of a queue pair has room; if not, notes the queue pair as blocked} */
    private boolean hasRoom(RoceQueuePair queuePair) {
        if (memory == null || queuePair.hasRoom(engine.timeNs())) {
            return true;
        }
        blocked.add(queuePair);
        return false;
    }

    private boolean pollTransmit(RoceQueuePair queuePair) {
        try {
            return queuePair.protocol().pollTransmit(outgoing, engine.timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine.contain(queuePair, defect);
            return false;
        }
    }

    /** Ports gather packets to send them together, and readers of memory are woken once. */
    @Override
    public boolean endTransmit() {
        outgoing.release();
        if (memory != null) {
            memory.flush();
        }
        return !isUnflushed || isPortFull || flush();
    }

    private boolean flush() {
        boolean isFlushed = ports.flush(engine.timeNs());
        isUnflushed = !isFlushed;
        isPortFull = !isFlushed;
        return isFlushed;
    }

    // ---------------------------------------------------------------- one packet

    /**
     * Sends the outgoing packet, to this device itself, through memory, or from a port. So long that compilers do not inline
     * it, on purpose: ADR 56.
     *
     * @param queuePair null for the connection manager
     */
    private void send(@Nullable RoceQueuePair queuePair) {
        Path path = outgoing.path();
        boolean isToItself = staysHere(path, outgoing.destinationQueuePairNumber());
        MemoryPath way = queuePair == null || isToItself ? null : queuePair.way(outgoing, memory);
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
            } else if (way != null) {
                result = way.send(outgoing, engine.timeNs());
                if (packets > 1) {
                    Objects.requireNonNull(queuePair).sentLong(result == PacketPort.Sent.LENT);
                }
            } else {
                PacketPort port = network.port(path.source());
                if (port == null) {
                    result = PacketPort.Sent.REFUSED;
                } else {
                    isUnflushed = true;
                    result = queuePair == null ? sendManagement(port) : port.send(outgoing);
                }
            }
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
            result = PacketPort.Sent.REFUSED;
        }
        switch (result) {
            case LENT -> {
                RoceQueuePair lender = Objects.requireNonNull(queuePair);
                lender.count(Counter.SENT_PKTS, packets, Counter.SENT_BYTES, length);
                lender.count(Counter.LENT_PKTS, packets, Counter.LENT_BYTES,
                        outgoing.payloadLength());
            }
            case SENT, KEPT, UNREACHABLE -> {
                if (queuePair == null) {
                    engine.counters().add(Counter.SENT_PKTS, packets);
                    engine.counters().add(Counter.SENT_BYTES, length);
                } else {
                    queuePair.count(Counter.SENT_PKTS, packets, Counter.SENT_BYTES, length);
                }
                isPortFull |= result == PacketPort.Sent.KEPT;
                if (result == PacketPort.Sent.UNREACHABLE) {
                    // A message of the connection manager: no socket has its destination port.
                    management.onUnreachable(engine.timeNs());
                }
            }
            case REFUSED -> {
                if (queuePair == null) {
                    engine.counters().add(Counter.SEND_ERR, packets);
                } else {
                    queuePair.count(Counter.SEND_ERR, packets);
                }
            }
            case PAYLOAD_GONE -> onPayloadGone(queuePair);
        }
    }

    private PacketPort.Sent sendManagement(PacketPort port) {
        if (management.isBeginning()) {
            unreachables.forget(port);
        }
        // The device's own ports exist; others are checked.
        boolean asks = management.isAsking()
                && network.port(outgoing.path().destination()) == null;
        return asks ? port.sendAsking(outgoing) : port.send(outgoing);
    }

    private void contain(@Nullable RoceQueuePair queuePair, Throwable defect) {
        if (queuePair == null) {
            ManagementPort.contain(defect);
        } else {
            engine.contain(queuePair, defect);
        }
    }

    /** Messages of the connection manager are in its own memory, so this concerns only queue pairs. */
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

    // ---------------------------------------------------------------- time and waiting

    @Override
    public long deadlineNs() {
        if (unreachables.hasNew()) {
            return engine.timeNs();
        }
        long fullNs = isPortFull ? engine.timeNs() + RETRY_FULL_NS : Long.MAX_VALUE;
        return Math.min(Math.min(network.nextDueNs(), management.deadlineNs()),
                Math.min(fullNs, blocked.deadlineNs()));
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public boolean canAwait(Selector selector) {
        return network.canAwait(selector);
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        return network.await(timeoutNs, selector);
    }

    @Override
    public void wake() {
        network.wake();
    }

    /**
     * The network is closed: nothing is sent or received any more. The next round frees the memory, because a received
     * packet may close the device while a call of this object uses it.
     */
    void close() {
        isClosed = true;
    }

    private void free() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
