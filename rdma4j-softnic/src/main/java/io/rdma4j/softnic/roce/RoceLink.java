package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.Link;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;

import java.lang.foreign.Arena;
import java.util.function.Function;
import java.util.function.IntSupplier;

/**
 * RoCE on a datagram network: packets between the ports of the network and the queue pairs, management datagrams, groups,
 * and what a device sends to itself. For the engine's owner.
 */
public final class RoceLink implements Link {
    private final Engine engine;
    private final DatagramNetwork network;
    private final Function<AddressHandleAttributes, Path> paths;
    private final ManagementPort management;
    private final MulticastGroups groups = new MulticastGroups();
    private final PacketDispatcher dispatcher;
    private final PeerRoundTrips peers = new PeerRoundTrips();
    private final PacketReceiver receiver;
    private final PacketWays ways;
    private final PacketSender sender;

    /**
     * @param random numbers that others cannot guess, for the engine's queue pairs
     * @param paths how packets travel by an address vector
     */
    public RoceLink(DatagramNetwork network, IbConnectionManager connectionManager,
            IntSupplier random, Function<AddressHandleAttributes, Path> paths) {
        PortSharing sharing = network.sharing();
        engine = sharing.isShared()
                ? new Engine(random, sharing.prefix(), this)
                : new Engine(random, this);
        this.network = network;
        this.paths = paths;
        Arena arena = Arena.ofAuto();
        connectionManager.identifierPrefix(sharing.prefix());
        management = new ManagementPort(connectionManager, arena);
        ways = new PacketWays(network, engine);
        dispatcher = new PacketDispatcher(engine, ways, sharing, groups, management, arena);
        receiver = new PacketReceiver(network, dispatcher);
        sender = new PacketSender(network, engine, ways, management, dispatcher, arena);
    }

    /** {@return the engine whose queue pairs send and receive here} */
    public Engine engine() {
        return engine;
    }

    /** Says whether packets from one address of this device to another stay in memory. Before the first packet. */
    public void skipNetwork(boolean isSkipped) {
        ways.skipNetwork(isSkipped);
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

    /** {@return how many queue pairs are members of a group} */
    public int members(Gid group) {
        return groups.members(group).size();
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

    /** {@return where the last packet came from} */
    Gid packetSource() {
        return dispatcher.source();
    }

    @Override
    public void onTime(long nowNs) {
        management.onTime(nowNs);
    }

    /** The peer of a queue pair sends requests: its connection stands. */
    void onPeerReady(int queuePair) {
        management.onPeerReady(queuePair);
    }

    // ---------------------------------------------------------------- sending

    @Override
    public boolean beginTransmit(long nowNs) {
        return sender.begin(nowNs);
    }

    @Override
    public boolean isFull() {
        return sender.isFull();
    }

    @Override
    public boolean endTransmit() {
        return sender.end();
    }

    /** {@return what sends the packets of queue pairs} */
    PacketSender sender() {
        return sender;
    }

    /** {@return the ways that packets take} */
    PacketWays ways() {
        return ways;
    }

    /** {@return how packets travel by an address vector} */
    Path path(AddressHandleAttributes attributes) {
        return paths.apply(attributes);
    }

    /** {@return what queue pairs have learnt of the round trips to the end of a path} */
    RoundTripEstimate roundTrips(Path path) {
        return peers.roundTrips(path.destination());
    }

    // ---------------------------------------------------------------- time and waiting

    @Override
    public long deadlineNs() {
        long earliest = Math.min(network.nextDueNs(), management.deadlineNs());
        return Math.min(earliest, Math.min(sender.deadlineNs(), ways.deadlineNs()));
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
