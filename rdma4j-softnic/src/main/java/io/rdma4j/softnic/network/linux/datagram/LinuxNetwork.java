// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.AddressRefusal;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.Ports;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SelectorDescriptors;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.memory.HostMemory;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.Selector;
import java.util.List;
import java.util.Objects;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IPV6;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_UDP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_ADD_MEMBERSHIP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_MTU_DISCOVER;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_MULTICAST_ALL;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_MULTICAST_HOPS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_MULTICAST_IF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_RECVERR;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPV6_UNICAST_HOPS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_ADD_MEMBERSHIP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_MTU_DISCOVER;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_MULTICAST_ALL;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_MULTICAST_IF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_MULTICAST_TTL;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_PMTUDISC_DO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_RECVERR;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TTL;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_RCVBUF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_REUSEADDR;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_REUSEPORT;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_SNDBUF;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_NO_CHECK6_RX;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The network on Linux: a {@link LinuxSocket} for each address, and {@link SocketPoller} to wait.
 *
 * <p>Only the thread that drives the network may use ports; any thread may call {@link #await} and {@link #wake}.
 */
public final class LinuxNetwork implements DatagramNetwork {
    private static final System.Logger LOG = System.getLogger(LinuxNetwork.class.getName());
    private static final int WANTED_SOCKET_BUFFER = 4 << 20;
    private static final int FIRST_FLOW_PORT = 0xc000;
    private static final int FLOW_PORTS = 0x3fff;
    private static final int TRIED_PORTS = 100;

    private static volatile boolean hasWorked;

    private final NetworkInterface networkInterface;
    private final Arena pollerMemory = Arena.ofShared();
    private final SocketPoller poller;
    /** Whether the last wait ended, and no port had anything. */
    private volatile boolean arePortsQuiet;
    /** Null where processes cannot share the port. */
    private final @Nullable SharedPort shared;
    private final Ports ports = new Ports();
    /** Null if processes do not exchange packets through memory. */
    private final @Nullable HostMemory memory;

    /** Which packets to processes of this machine pass through memory that both have mapped. */
    public enum SharedMemoryUse {
        /** No packets. */
        NEVER,
        /** Packets to other devices, if the system supports it. */
        OTHERS,
        /** Those to this device as well; it is an error if the system does not allow it. */
        ALL
    }

    /**
     * @param networkInterface the interface that the device is on
     * @throws RdmaException the system's own error if it gives nothing to wait with, EOPNOTSUPP if shared memory is
     *         required and not possible
     */
    public LinuxNetwork(NetworkInterface networkInterface, SharedMemoryUse use)
            throws RdmaException {
        this(networkInterface, SharedPort.ofProcess(), use);
    }

    public LinuxNetwork(NetworkInterface networkInterface, @Nullable SharedPort shared,
            SharedMemoryUse use)
            throws RdmaException {
        this.networkInterface = networkInterface;
        this.shared = shared;
        memory = use == SharedMemoryUse.NEVER ? null
                : openMemory(shared, use == SharedMemoryUse.ALL);
        try {
            poller = memory == null
                    ? new SocketPoller(pollerMemory)
                    : new SocketPoller(pollerMemory, memory.wakeSources());
        } catch (LinuxSocket.Refused e) {
            giveUp();
            throw e.during("open device", "the system gives nothing to wait with");
        } catch (OutOfMemoryError none) {
            giveUp();
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    /** It cannot be opened. */
    private void giveUp() {
        pollerMemory.close();
        if (memory != null) {
            memory.close();
        }
    }

    private @Nullable HostMemory openMemory(@Nullable SharedPort others, boolean isRequired)
            throws RdmaException {
        String obstacle;
        if (others == null) {
            obstacle = String.valueOf(obstacleToSharing());
        } else {
            try {
                return new HostMemory(others, networkInterface.getIndex(), isRequired);
            } catch (LinuxSocket.Refused | LinkageError e) {
                obstacle = String.valueOf(e.getMessage());
            }
        }
        if (isRequired) {
            throw RdmaException.unsupported("open device",
                    "processes cannot meet in memory: " + obstacle);
        }
        LOG.log(System.Logger.Level.DEBUG, "processes do not meet in memory: {0}", obstacle);
        return null;
    }

    /** {@return why this network does not work here, or null if it does} A success is remembered. */
    public static @Nullable String obstacle() {
        if (hasWorked) {
            return null;
        }
        String found = LinuxAccess.obstacle(DatagramSandbox::refusal);
        hasWorked = found == null;
        return found;
    }

    /** {@return whether calls of Linux are tried here at all} Then an {@link #obstacle} is one of those calls. */
    public static boolean isTried() {
        return LinuxAccess.obstacle() == null;
    }

    /**
     * {@return the sharing of ports with other processes, without an open network}
     *
     * @throws RdmaException if ports cannot be shared, as on opening a network
     */
    public static PortSharing sharingOfProcess() throws RdmaException {
        SharedPort present = SharedPort.ofProcess();
        return present == null ? PortSharing.NONE : present;
    }

    /**
     * {@return why this process cannot share its addresses with others, null if it can}
     *
     * @throws RdmaException as on opening a network
     */
    public static @Nullable String obstacleToSharing() throws RdmaException {
        return SharedPort.obstacle();
    }

    @Override
    public PortSharing sharing() {
        return shared == null ? PortSharing.NONE : shared;
    }

    @Override
    public List<PacketPort> ports() {
        return ports.inOrder();
    }

    @Override
    public @Nullable PacketPort port(Gid local) {
        return ports.find(local);
    }

    @Override
    public PacketPort open(InetAddress address) throws RdmaException {
        Gid local = Gid.of(address);
        // An arena for each port, because ports are opened and closed during the life of the network.
        Arena portMemory = Arena.ofShared();
        LinuxSocket socket = null;
        PacketPort port = null;
        try {
            socket = newSocket(local, portMemory);
            setForSending(socket, local.isIpv4(), networkInterface.getIndex());
            SharedPort others = shared;
            int scope = local.address().isLinkLocalAddress() ? networkInterface.getIndex() : 0;
            if (others == null) {
                bind(socket, local);
            } else {
                others.join(local, scope, socket, unbound -> {
                    unbound.set(SOL_SOCKET, SO_REUSEPORT, 1);
                    bind(unbound, local);
                });
            }
            port = add(socket, local, portMemory);
            if (memory != null) {
                memory.publish(local, scope);
            }
            return port;
        } catch (LinuxSocket.Refused e) {
            giveUp(port, socket, portMemory);
            throw switch (e.errno()) {
                case LinuxCalls.EADDRINUSE -> AddressRefusal.taken(address, e);
                case LinuxCalls.EADDRNOTAVAIL -> AddressRefusal.notOurs(address, e);
                default -> e.during("open device", AddressRefusal.text(address));
            };
        } catch (OutOfMemoryError none) {
            giveUp(port, socket, portMemory);
            throw MemoryErrors.outOfMemory("open device", none);
        } catch (RdmaException | RuntimeException | Error e) {
            giveUp(port, socket, portMemory);
            throw e;
        }
    }

    /** Reverts everything after an address could not be opened. */
    private void giveUp(@Nullable PacketPort port, @Nullable LinuxSocket socket,
            Arena portMemory) {
        if (port != null) {
            leave(port.local());
            return;
        }
        if (shared == null || socket == null) {
            close(socket, portMemory);
        } else {
            shared.leave(socket);
            portMemory.close();
        }
    }

    private static LinuxSocket newSocket(Gid local, Arena memory) throws LinuxSocket.Refused {
        LinuxSocket socket = LinuxSocket.open(SocketAddress.family(local), memory);
        try {
            socket.trySet(SOL_SOCKET, SO_RCVBUF, WANTED_SOCKET_BUFFER);
            socket.requireOffload();
            if (!local.isIpv4()) {
                socket.trySet(IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
            }
            return socket;
        } catch (LinuxSocket.Refused e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Sets the options of a socket that sends. Without those of the hop limit the system's own applies, which the ICRC does
     * not cover: 64 as well, but 1 for groups, whose packets then pass no router.
     *
     * @param index of the interface that packets to groups leave by, 0 for the one that the system's routing chooses
     */
    static void setForSending(LinuxSocket socket, boolean isIpv4, int index)
            throws LinuxSocket.Refused {
        socket.trySet(SOL_SOCKET, SO_SNDBUF, WANTED_SOCKET_BUFFER);
        if (isIpv4) {
            // Without fragments Linux sends Identification 0, which the ICRC counts on.
            socket.set(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
            socket.trySet(IPPROTO_IP, IP_TTL, Path.DEFAULT_HOPS);
            socket.trySet(IPPROTO_IP, IP_MULTICAST_TTL, Path.DEFAULT_HOPS);
            try (Arena call = Arena.ofConfined()) {
                // struct ip_mreqn: group, local address, interface.
                MemorySegment request = call.allocate(12, 4);
                request.set(JAVA_INT, 8, index);
                socket.set(IPPROTO_IP, IP_MULTICAST_IF, request);
            }
        } else {
            socket.set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO);
            socket.trySet(IPPROTO_IPV6, IPV6_UNICAST_HOPS, Path.DEFAULT_HOPS);
            socket.trySet(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, Path.DEFAULT_HOPS);
            socket.set(IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
        }
    }

    private void bind(LinuxSocket socket, Gid local) throws LinuxSocket.Refused {
        bind(socket, local, Path.UDP_PORT);
    }

    private void bind(LinuxSocket socket, Gid local, int port) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment name = call.allocate(SocketAddress.MAX_LENGTH, 8);
            socket.bind(name,
                    SocketAddress.write(name, local, port, networkInterface.getIndex()));
        }
    }

    private PacketPort add(LinuxSocket socket, Gid local, Arena memory)
            throws LinuxSocket.Refused {
        int index = networkInterface.getIndex();
        Ways ways = Ways.from(local, index);
        LinuxPort port = new LinuxPort(socket, shared, local,
                new Flow(socket, Path.UDP_PORT, index, ways, memory),
                number -> openFlow(local, number, ways, memory), ways, memory);
        poller.watch(socket.descriptor());
        return ports.add(port);
    }

    /** Its port is in the range that RoCEv2 recommends; source: IBTA annex A17. */
    private Flow openFlow(Gid local, int number, Ways ways, Arena memory)
            throws LinuxSocket.Refused {
        LinuxSocket socket = LinuxSocket.open(SocketAddress.family(local), memory);
        try {
            setForSending(socket, local.isIpv4(), networkInterface.getIndex());
            keepReports(socket, local);
            int port = bindToAny(socket, local, number);
            return new Flow(socket, port, networkInterface.getIndex(), ways, memory);
        } catch (LinuxSocket.Refused e) {
            socket.close();
            throw e;
        } catch (OutOfMemoryError none) {
            socket.close();
            throw new LinuxSocket.Refused(LinuxCalls.ENOMEM, "a flow's memory");
        }
    }

    /**
     * Not for the socket that receives: an ICMP message, which anybody may forge, would end its waits until it is taken. Where
     * it is refused, a peer that is not there is waited for longer.
     */
    private static void keepReports(LinuxSocket socket, Gid local) {
        if (local.isIpv4()) {
            socket.trySet(IPPROTO_IP, IP_RECVERR, 1);
        } else {
            socket.trySet(IPPROTO_IPV6, IPV6_RECVERR, 1);
        }
    }

    private int bindToAny(LinuxSocket socket, Gid local, int number) throws LinuxSocket.Refused {
        int first = Objects.hash(ProcessHandle.current().pid(), local, number);
        for (int tried = 0;; tried++) {
            int port = FIRST_FLOW_PORT | ((first + tried) & FLOW_PORTS);
            try {
                bind(socket, local, port);
                return port;
            } catch (LinuxSocket.Refused e) {
                if (e.errno() != LinuxCalls.EADDRINUSE || tried == TRIED_PORTS) {
                    throw e;
                }
            }
        }
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        if (!group.isIpv4() && isLoopback()) {
            throw AddressRefusal.notDelivered(group, networkInterface);
        }
        Arena memory = Arena.ofShared();
        LinuxSocket socket = null;
        try {
            socket = newSocket(group, memory);
            socket.set(SOL_SOCKET, SO_REUSEADDR, 1);
            // Bound to the group itself: otherwise the socket would receive other groups of this interface.
            // IP_MULTICAST_ALL is off: otherwise it would receive the same group from other interfaces, too.
            bind(socket, group);
            if (group.isIpv4()) {
                socket.trySet(IPPROTO_IP, IP_MULTICAST_ALL, 0);
            } else {
                socket.trySet(IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
            }
            join(socket, group);
            return add(socket, group, memory);
        } catch (LinuxSocket.Refused e) {
            close(socket, memory);
            throw AddressRefusal.notJoined(group.address(), networkInterface, e.getMessage(), e);
        } catch (OutOfMemoryError none) {
            close(socket, memory);
            throw MemoryErrors.outOfMemory("attach to multicast group", none);
        }
    }

    private boolean isLoopback() {
        try {
            return networkInterface.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    private void join(LinuxSocket socket, Gid group) throws LinuxSocket.Refused {
        int index = networkInterface.getIndex();
        try (Arena call = Arena.ofConfined()) {
            // struct ip_mreqn and ipv6_mreq.
            MemorySegment request = call.allocate(group.isIpv4() ? 12 : 20, 4);
            byte[] address = group.address().getAddress();
            MemorySegment.copy(MemorySegment.ofArray(address), 0, request, 0, address.length);
            request.set(JAVA_INT, request.byteSize() - 4, index);
            if (group.isIpv4()) {
                socket.set(IPPROTO_IP, IP_ADD_MEMBERSHIP, request);
            } else {
                socket.set(IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, request);
            }
        }
    }

    @Override
    public void leave(Gid local) {
        if (memory != null) {
            memory.withdraw(local);
        }
        PacketPort port = ports.remove(local);
        if (port != null) {
            close(port);
        }
    }

    private void close(PacketPort port) {
        LinuxPort closing = (LinuxPort) port;
        // Its socket may stay open for a while, and what arrives there is not read any more.
        poller.forget(closing.descriptor());
        closing.close();
    }

    @Override
    public void lookAtRoutes() {
        ports.inOrder().forEach(port -> ((LinuxPort) port).lookAtRoutes());
    }

    @Override
    public int longestPacket(Gid local, Gid remote) {
        return PathProbe.longestPacket(local, remote, networkInterface.getIndex());
    }

    @Override
    public @Nullable SharedMemory sharedMemory() {
        return memory;
    }

    @Override
    public boolean pollDue(long nowNs) {
        if (memory != null) {
            memory.onTime(nowNs);
        }
        return true;
    }

    @Override
    public long nextDueNs() {
        return memory == null ? Long.MAX_VALUE : memory.nextDueNs();
    }

    @Override
    public void await(long timeoutNs) {
        if (memory == null) {
            arePortsQuiet = !poller.await(timeoutNs);
        } else if (memory.beginSleep()) {
            arePortsQuiet = !poller.await(timeoutNs);
            memory.endSleep();
        }
    }

    @Override
    public boolean canAwait(Selector selector) {
        return SelectorDescriptors.find(selector) >= 0;
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        poller.awaitAlso(SelectorDescriptors.known(selector));
        if (timeoutNs > 0) {
            await(timeoutNs);
        }
        return poller.endAlso();
    }

    @Override
    public boolean takePortsQuiet() {
        boolean areQuiet = arePortsQuiet;
        if (areQuiet) {
            arePortsQuiet = false;
        }
        return areQuiet;
    }

    @Override
    public void wake() {
        poller.wake();
    }

    @Override
    public void close() {
        ports.inOrder().forEach(this::close);
        ports.clear();
        if (memory != null) {
            memory.close();
        }
        poller.close();
        if (pollerMemory.scope().isAlive()) {
            // No thread waits any more, and one that wakes others sees that the poller is closed.
            pollerMemory.close();
        }
        if (shared != null) {
            shared.awaitLeft();
        }
    }

    private static void close(@Nullable LinuxSocket socket, Arena memory) {
        if (socket != null) {
            socket.close();
        }
        memory.close();
    }
}
