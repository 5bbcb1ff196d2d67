// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.channels.Selector;
import java.util.List;
import java.util.function.UnaryOperator;

/** A network that does what another one does, with ports of its own around those of the other. */
abstract class ForwardingNetwork implements DatagramNetwork {
    final DatagramNetwork network;
    private final Ports ports = new Ports();

    ForwardingNetwork(DatagramNetwork network) {
        this.network = network;
    }

    @Override
    public final List<PacketPort> ports() {
        return ports.inOrder();
    }

    @Override
    public final @Nullable PacketPort port(Gid local) {
        return ports.find(local);
    }

    @Override
    public final PacketPort open(InetAddress local) throws RdmaException {
        return add(network.open(local), this::aroundAddress);
    }

    @Override
    public final PacketPort join(Gid group) throws RdmaException {
        return add(network.join(group), this::aroundGroup);
    }

    private PacketPort add(PacketPort port, UnaryOperator<PacketPort> around)
            throws RdmaException {
        try {
            return ports.add(around.apply(port));
        } catch (OutOfMemoryError none) {
            network.leave(port.local());
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    /** {@return the port for that of an address} */
    abstract PacketPort aroundAddress(PacketPort port);

    /** {@return the port for that of a multicast group, which only receives} */
    abstract PacketPort aroundGroup(PacketPort port);

    @Override
    public final void leave(Gid local) {
        PacketPort port = ports.remove(local);
        network.leave(local);
        if (port != null) {
            onLeft(port);
        }
    }

    /** Called when a port of this network is not used any more, and that of the other network is closed. */
    abstract void onLeft(PacketPort port);

    /** The other network is closed. */
    final void leaveAll() {
        ports.inOrder().forEach(this::onLeft);
        ports.clear();
    }

    @Override
    public final void lookAtRoutes() {
        network.lookAtRoutes();
    }

    @Override
    public final int longestPacket(Gid local, Gid remote) {
        return network.longestPacket(local, remote);
    }

    @Override
    public final PortSharing sharing() {
        return network.sharing();
    }

    @Override
    public final @Nullable SharedMemory sharedMemory() {
        return network.sharedMemory();
    }

    @Override
    public boolean pollDue(long nowNs) {
        return network.pollDue(nowNs);
    }

    @Override
    public long nextDueNs() {
        return network.nextDueNs();
    }

    @Override
    public final boolean canAwait(Selector selector) {
        return network.canAwait(selector);
    }

    @Override
    public final void wake() {
        network.wake();
    }
}
