// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.PacketLength;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.ibcm.IbConnections;
import io.rdma4j.softnic.ibcm.IbServices;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.verbs.ConnectionServices;
import io.rdma4j.softnic.verbs.DeviceDescription;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.softnic.verbs.UnreliableDatagrams;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * RoCE on a datagram network, with the system's multicast groups and the IB connection manager. Only the engine's owner may
 * call it, except where a method says otherwise.
 */
public final class RoceTransport implements Transport {
    private static final Map<QueuePairType, Set<SendOpcode>> OPERATIONS = operations();

    private final DatagramNetwork network;
    private final @Nullable String obstacleToSharing;
    private final TransportHost host;
    private final ProcessNumbers numbers;
    private final IbConnectionManager connectionManager;
    private final ConnectionServices connections;
    private final MulticastGroups groups = new MulticastGroups();
    private final RoceDatagrams datagrams;
    private final RoceLink link;

    /**
     * @param obstacleToSharing why this process cannot share its addresses, with what to do about it; null if it can, or
     *        if that needs no words
     * @param host the device under construction, which has no driver yet
     * @param numbers for queue pairs and connections
     */
    RoceTransport(DatagramNetwork network, @Nullable String obstacleToSharing,
            CmSettings settings, TransportHost host, ProcessNumbers numbers) {
        this.network = network;
        this.obstacleToSharing = obstacleToSharing;
        this.host = host;
        this.numbers = numbers;
        connectionManager = new IbConnectionManager(settings, host.random(),
                peer -> pathMtu(peer.local(), peer.remote()));
        connections = new IbConnections(new Services());
        datagrams = new RoceDatagrams(host);
        link = new RoceLink(network, connectionManager, groups, host.random(), numbers,
                datagrams::route);
        link.lend(host);
    }

    /** {@return a factory of a transport on a network, with numbers of its own} */
    public static Function<TransportHost, Transport> on(DatagramNetwork network,
            CmSettings settings) {
        return on(network, null, settings);
    }

    /** As above. {@return one that says why it cannot share its addresses} */
    public static Function<TransportHost, Transport> on(DatagramNetwork network,
            @Nullable String obstacleToSharing, CmSettings settings) {
        return host -> new RoceTransport(network, obstacleToSharing, settings, host,
                new ProcessNumbers(network.sharing(), host.random()));
    }

    /** The services of the device for connections. */
    private final class Services implements IbServices {
        @Override
        public EngineDriver driver() {
            return host.driver();
        }

        @Override
        public IbConnectionManager connectionManager() {
            return connectionManager;
        }

        @Override
        public void steer(int service) throws RdmaException {
            network.sharing().listen(service);
        }

        @Override
        public void steerOnlyRepetitions(int service) {
            network.sharing().listenOnlyForRepetitions(service);
        }

        @Override
        public void stopSteering(int service) {
            network.sharing().stopListening(service);
        }

        @Override
        public void firstRnrTimer(int queuePair, int code) {
            if (link.engine().find(queuePair) instanceof RoceQueuePair found) {
                found.protocol().firstRnrTimer(code);
            }
        }

        @Override
        public List<Gid> gids() {
            return host.gids();
        }

        @Override
        public InetAddress addressOf(Gid gid) {
            return host.addressOf(gid);
        }

        @Override
        public Mtu pathMtu(Gid local, Gid remote) {
            return RoceTransport.this.pathMtu(local, remote);
        }
    }

    @Override
    public Engine engine() {
        return link.engine();
    }

    private Mtu pathMtu(Gid local, Gid remote) {
        return PacketLength.largestMtu(
                Math.min(host.interfaceMtu(), network.longestPacket(local, remote)),
                remote.isIpv4());
    }

    /** {@return the handler of received packets} */
    public PacketHandler handler() {
        return link.handler();
    }

    /** Sets whether packets between addresses of this device bypass the network. Must be called before the first packet. */
    public void skipNetwork(boolean isSkipped) {
        link.skipNetwork(isSkipped);
    }

    @Override
    public void checkShared() {
        network.sharing().check();
        network.lookAtRoutes();
    }

    @Override
    public ConnectionServices connections() {
        return connections;
    }

    @Override
    public QueuePairTransitions transitions() {
        return InfinibandTransitions.INSTANCE;
    }

    @Override
    public DeviceDescription description() {
        return RoceDescription.INSTANCE;
    }

    @Override
    public void endConnections(long nowNs) {
        connectionManager.closeAll(nowNs);
    }

    @Override
    public void close() {
        network.close();
        link.close();
    }

    // ---------------------------------------------------------------- addresses

    @Override
    public Gid hold(InetAddress address) throws RdmaException {
        return network.open(address).local();
    }

    @Override
    public boolean sharesAddresses() {
        return network.sharing().isShared();
    }

    @Override
    public String holder(InetAddress taken) {
        return PortHolder.of(taken, Path.UDP_PORT,
                ", which does not share it: processes of one user in one network namespace of"
                        + " Linux do, with native access and this version of rdma4j"
                        + (obstacleToSharing == null
                                ? ""
                                : "; this process cannot: " + obstacleToSharing));
    }

    @Override
    public boolean isTakenEverywhere() {
        return PortHolder.count(InetAddress.ofLiteral("0.0.0.0"), Path.UDP_PORT) > 0;
    }

    @Override
    public boolean holds(Gid address) {
        return network.port(address) != null;
    }

    @Override
    public void release(Gid address) {
        link.leave(address);
    }

    @Override
    public void releaseAll() {
        for (PacketPort port : List.copyOf(network.ports())) {
            link.leave(port.local());
        }
    }

    // ---------------------------------------------------------------- queue pairs

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
        };
    }

    @Override
    public Set<Counter> counters() {
        return RoceCounters.OF_DEVICE;
    }

    @Override
    public Set<Counter> counters(QueuePairType type) {
        return RoceCounters.of(type);
    }

    @Override
    public Set<SendOpcode> operations(QueuePairType type) {
        return Objects.requireNonNull(OPERATIONS.get(type));
    }

    @Override
    public void prepareQueuePairNumbers() throws RdmaException {
        numbers.extendIfShort(network.sharing());
    }

    @Override
    public int newQueuePairNumber() {
        return link.engine().newQueuePairNumber();
    }

    @Override
    public EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener) {
        return new RoceQueuePair(link, number, type, queues, memory, listener);
    }

    @Override
    public UnreliableDatagrams datagrams() {
        return datagrams;
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
            host.objects().totals().requireRoom(ObjectKind.MULTICAST_GROUP, Limits.GROUPS,
                    "max_mcast_grp");
            network.join(group);
            host.objects().totals().add(ObjectKind.MULTICAST_GROUP);
        }
        groups.join(group, (RoceQueuePair) queuePair, blocksMulticastLoopback);
    }

    @Override
    public void leave(Gid group, EngineQueuePair queuePair) {
        if (groups.leave(group, (RoceQueuePair) queuePair)) {
            network.leave(group);
            host.objects().totals().remove(ObjectKind.MULTICAST_GROUP);
        }
    }
}
