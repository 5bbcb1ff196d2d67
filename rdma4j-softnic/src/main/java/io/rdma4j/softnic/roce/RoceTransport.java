package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.verbs.ChildCounts;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.softnic.verbs.ObjectKind;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntSupplier;

/** RoCE on a datagram network, whose groups are those of the system. For the engine's owner. */
public final class RoceTransport implements Transport {
    private static final Map<QueuePairType, Set<SendOpcode>> OPERATIONS = operations();

    private final DatagramNetwork network;
    private final ChildCounts totals;
    private final MulticastGroups groups = new MulticastGroups();
    private final RoceLink link;

    /**
     * @param random numbers that others cannot guess, for the engine's queue pairs
     * @param paths how packets travel by an address vector
     * @param totals all objects of the device
     */
    public RoceTransport(DatagramNetwork network, IbConnectionManager connectionManager,
            IntSupplier random, Function<AddressHandleAttributes, Path> paths,
            ChildCounts totals) {
        this.network = network;
        this.totals = totals;
        link = new RoceLink(network, connectionManager, groups, random, paths);
    }

    /** {@return the engine whose queue pairs send and receive by it} */
    public Engine engine() {
        return link.engine();
    }

    /** {@return what takes the packets that arrive} */
    public PacketHandler handler() {
        return link.handler();
    }

    /** Says whether packets from one address of this device to another stay in memory. Before the first packet. */
    public void skipNetwork(boolean isSkipped) {
        link.skipNetwork(isSkipped);
    }

    private static Map<QueuePairType, Set<SendOpcode>> operations() {
        Map<QueuePairType, Set<SendOpcode>> operations = new EnumMap<>(QueuePairType.class);
        for (QueuePairType type : QueuePairType.values()) {
            operations.put(type, EnumSet.noneOf(SendOpcode.class));
        }
        for (SendOpcode opcode : SendOpcode.values()) {
            for (QueuePairType type : typesWith(opcode)) {
                Objects.requireNonNull(operations.get(type)).add(opcode);
            }
        }
        return operations;
    }

    private static Set<QueuePairType> typesWith(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE ->
                EnumSet.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD);
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, LOCAL_INVALIDATE, BIND_MEMORY_WINDOW ->
                EnumSet.of(QueuePairType.RC, QueuePairType.UC);
            case RDMA_READ, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, SEND_WITH_INVALIDATE,
                    FLUSH, ATOMIC_WRITE ->
                EnumSet.of(QueuePairType.RC);
            case TSO, DRIVER1 -> EnumSet.noneOf(QueuePairType.class);
        };
    }

    @Override
    public Set<SendOpcode> operations(QueuePairType type) {
        return Objects.requireNonNull(OPERATIONS.get(type));
    }

    @Override
    public int newQueuePairNumber() throws RdmaException {
        Engine engine = link.engine();
        if (engine.isShortOfNumbers()) {
            engine.addPrefix(network.sharing().takePrefix());
        }
        return engine.newQueuePairNumber();
    }

    @Override
    public EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener) {
        return new RoceQueuePair(link, number, type, queues, memory, listener);
    }

    @Override
    public void join(Gid group, EngineQueuePair queuePair, boolean blocksMulticastLoopback)
            throws RdmaException {
        if (groups.members(group).size() >= Limits.GROUP_MEMBERS) {
            throw new RdmaException(Errno.ENOMEM, "attach to multicast group",
                    group.addressText() + " has all the queue pairs that it can have:"
                            + " max_mcast_qp_attach is " + Limits.GROUP_MEMBERS);
        }
        if (network.port(group) == null) {
            totals.requireRoom(ObjectKind.MULTICAST_GROUP, Limits.GROUPS, "max_mcast_grp");
            network.join(group);
            totals.add(ObjectKind.MULTICAST_GROUP);
        }
        groups.join(group, (RoceQueuePair) queuePair, blocksMulticastLoopback);
    }

    @Override
    public void leave(Gid group, EngineQueuePair queuePair) {
        if (groups.leave(group, (RoceQueuePair) queuePair)) {
            network.leave(group);
            totals.remove(ObjectKind.MULTICAST_GROUP);
        }
    }
}
