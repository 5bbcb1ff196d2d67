// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.verbs.ConnectionServices;
import io.rdma4j.softnic.verbs.DeviceDescription;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.softnic.verbs.UnreliableDatagrams;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * iWARP on a network of byte streams, with the system's TCP ports. For the engine's owner, except where a method says
 * otherwise.
 */
public final class IwarpTransport implements Transport {
    private static final Set<Counter> OF_QUEUE_PAIR = Collections.unmodifiableSet(
            EnumSet.of(Counter.SENT_PKTS, Counter.RCVD_PKTS, Counter.SENT_BYTES, Counter.RCVD_BYTES,
                    Counter.RDMA_SENDS, Counter.RDMA_RECVS));
    private static final Set<Counter> OF_DEVICE = Collections.unmodifiableSet(
            EnumSet.of(Counter.SENT_PKTS, Counter.RCVD_PKTS, Counter.SENT_BYTES, Counter.RCVD_BYTES,
                    Counter.RDMA_SENDS, Counter.RDMA_RECVS, Counter.SEND_ERR, Counter.LINK_DOWNED));
    private static final Set<SendOpcode> OPERATIONS = EnumSet.of(SendOpcode.SEND,
            SendOpcode.SEND_WITH_INVALIDATE, SendOpcode.RDMA_WRITE, SendOpcode.RDMA_READ,
            SendOpcode.LOCAL_INVALIDATE, SendOpcode.BIND_MEMORY_WINDOW);

    private final TransportHost host;
    private final IwarpLink link;
    private final ConnectionServices connections;
    private final Set<Gid> held = ConcurrentHashMap.newKeySet();

    /** @param host the device under construction, which has no driver yet */
    IwarpTransport(StreamNetwork network, IwarpSettings settings, TransportHost host) {
        this.host = host;
        link = new IwarpLink(network, settings, host.random());
        connections = new IwarpConnections(link, host);
    }

    @Override
    public Engine engine() {
        return link.engine();
    }

    @Override
    public ConnectionServices connections() {
        return connections;
    }

    @Override
    public QueuePairTransitions transitions() {
        return IwarpTransitions.INSTANCE;
    }

    @Override
    public DeviceDescription description() {
        return IwarpDescription.INSTANCE;
    }

    @Override
    public void endConnections(long nowNs) {
        for (EngineQueuePair each : link.engine().queuePairs()) {
            if (each instanceof StreamQueuePair queuePair) {
                queuePair.leave();
            }
        }
    }

    @Override
    public void close() {
        link.close(host.driver()::nowNs);
    }

    /** Another program may have given a port back. */
    @Override
    public void checkShared() {
        if (link.hasRefusedListener()) {
            host.driver().run(nowNs -> link.listenAgain());
        }
    }

    // ---------------------------------------------------------------- addresses: TCP holds none before it uses one

    @Override
    public Gid hold(InetAddress address) {
        Gid gid = Gid.of(address);
        if (held.add(gid)) {
            host.driver().run(nowNs -> link.onAddressHeld(address));
        }
        return gid;
    }

    @Override
    public boolean sharesAddresses() {
        return true;
    }

    @Override
    public String holder(InetAddress taken) {
        return "nobody";
    }

    @Override
    public boolean holds(Gid address) {
        return held.contains(address);
    }

    @Override
    public void release(Gid address) {
        held.remove(address);
        link.onAddressReleased(address.address());
    }

    @Override
    public void releaseAll() {
        List.copyOf(held).forEach(this::release);
    }

    // ---------------------------------------------------------------- queue pairs

    @Override
    public Set<Counter> counters() {
        return OF_DEVICE;
    }

    @Override
    public Set<Counter> counters(QueuePairType type) {
        return OF_QUEUE_PAIR;
    }

    @Override
    public Set<SendOpcode> operations(QueuePairType type) {
        return type == QueuePairType.RC ? OPERATIONS : Set.of();
    }

    @Override
    public void prepareQueuePairNumbers() {
        // All numbers are this process's.
    }

    @Override
    public int newQueuePairNumber() {
        return link.engine().newQueuePairNumber();
    }

    @Override
    public EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener) {
        return new StreamQueuePair(link, number, queues, memory, listener);
    }

    @Override
    public @Nullable UnreliableDatagrams datagrams() {
        return null;
    }

    @Override
    public void join(Gid group, EngineQueuePair queuePair, boolean blocksMulticastLoopback)
            throws RdmaException {
        throw RdmaException.unsupported("attach to multicast group", "iWARP has no groups");
    }

    @Override
    public void leave(Gid group, EngineQueuePair queuePair) {
        throw new IllegalStateException("no queue pair is in a group");
    }
}
