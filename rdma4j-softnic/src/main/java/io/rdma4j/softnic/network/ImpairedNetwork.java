// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.List;

/**
 * Impairs another network: packets that are sent through it are lost, duplicated, damaged, delayed and
 * reordered. A seed determines what happens.
 *
 * <p>No call waits. A delayed packet is kept in {@link DelayedPackets} until {@link #pollDue} finds it due;
 * when that is full, packets are lost, as in a router.
 */
public final class ImpairedNetwork extends ForwardingNetwork {
    private final ImpairmentDraw draw;
    private final Arena arena = Arena.ofShared();
    private final DelayedPackets held;
    private volatile long nowNs;
    private volatile long nextDueNs = Long.MAX_VALUE;
    private volatile long asleepUntilNs = Long.MIN_VALUE;

    /**
     * @param network the network for the remaining packets, which is closed if there is no memory for delayed ones
     * @throws RdmaException ENOMEM if there is no memory for them
     */
    public ImpairedNetwork(DatagramNetwork network, Impairment impairment) throws RdmaException {
        super(network);
        draw = new ImpairmentDraw(impairment);
        try {
            held = new DelayedPackets(arena);
        } catch (OutOfMemoryError none) {
            arena.close();
            network.close();
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    @Override
    PacketPort aroundAddress(PacketPort port) {
        return new ImpairedPort(port);
    }

    /** Packets to a group are sent from the port of an address. */
    @Override
    PacketPort aroundGroup(PacketPort port) {
        return port;
    }

    @Override
    void onLeft(PacketPort port) {
        if (port instanceof ImpairedPort impaired) {
            impaired.memory.close();
        }
    }

    @Override
    public boolean pollDue(long newNowNs) {
        nowNs = newNowNs;
        boolean isAllSent = network.pollDue(newNowNs) && sendDue() && flush();
        nextDueNs = held.earliestNs();
        return isAllSent;
    }

    @Override
    public long nextDueNs() {
        return Math.min(nextDueNs, network.nextDueNs());
    }

    /** A packet that is delayed during this wait ends the wait in time. */
    @Override
    public void await(long timeoutNs) {
        network.await(untilDue(timeoutNs));
        asleepUntilNs = Long.MIN_VALUE;
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        boolean hasSomething = network.await(untilDue(timeoutNs), selector);
        asleepUntilNs = Long.MIN_VALUE;
        return hasSomething;
    }

    /** {@return how long to wait, at most until the next packet is due} */
    private long untilDue(long timeoutNs) {
        long untilNs = timeoutNs == Long.MAX_VALUE ? timeoutNs : nowNs + timeoutNs;
        // Announced before the check: a thread that adds a packet after that sees it and wakes this one.
        asleepUntilNs = untilNs;
        long dueNs = nextDueNs;
        return dueNs < untilNs ? Math.max(0, dueNs - nowNs) : timeoutNs;
    }

    /** Delayed packets still arrive after their port was closed. */
    @Override
    public void close() {
        nowNs = Long.MAX_VALUE - 1;
        if (arena.scope().isAlive()) {
            sendDue();
        }
        network.close();
        leaveAll();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /** {@return whether no due packet is left} */
    private boolean sendDue() {
        long timeNs = nowNs;
        while (held.earliestNs() <= timeNs) {
            DelayedPackets.Packet packet = held.removeEarliest();
            if (packet.port().send(packet.bytes(), packet.path()) == PacketPort.Sent.KEPT) {
                held.keep(packet);
                return false;
            }
            held.free(packet);
        }
        return true;
    }

    private boolean flush() {
        boolean isFlushed = true;
        List<PacketPort> all = ports();
        for (int i = 0; i < all.size(); i++) {
            isFlushed &= all.get(i).flush();
        }
        return isFlushed;
    }

    private void wakeWhenDue() {
        nextDueNs = held.earliestNs();
        if (nextDueNs < asleepUntilNs) {
            network.wake();
        }
    }

    private final class ImpairedPort implements PacketPort {
        private final PacketPort port;
        private final Arena memory = Arena.ofShared();
        private final PacketSealer sealer = new PacketSealer(memory);
        private final Icrc icrc = new Icrc();
        private long queuedUntilNs = Long.MIN_VALUE;

        ImpairedPort(PacketPort port) {
            this.port = port;
        }

        @Override
        public Gid local() {
            return port.local();
        }

        @Override
        public Sent send(OutgoingPacket packet) {
            draw.next();
            if (draw.isLost()) {
                return Sent.SENT;
            }
            if (draw.isHarmless()) {
                return port.send(packet);
            }
            ByteBuffer datagram = sealer.seal(packet);
            return datagram == null ? Sent.PAYLOAD_GONE : hold(datagram, packet.path());
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            draw.next();
            if (draw.isLost()) {
                return Sent.SENT;
            }
            return draw.isHarmless()
                    ? port.send(datagram, path)
                    : hold(datagram.rewind(), path);
        }

        private Sent hold(ByteBuffer datagram, Path path) {
            // Delayed packets keep their order; only those that are held back are overtaken.
            queuedUntilNs = Math.max(queuedUntilNs, nowNs + draw.travelNs());
            long dueNs = queuedUntilNs + draw.holdNs();
            ByteBuffer copy = held.add(port, path, datagram, dueNs);
            if (copy != null && draw.isDamaged()) {
                draw.damage(copy, icrc, port.local(), path.destination());
            }
            if (draw.isDoubled()) {
                held.add(port, path, datagram.rewind(), dueNs);
            }
            boolean isAllSent = sendDue();
            wakeWhenDue();
            return isAllSent ? Sent.SENT : Sent.KEPT;
        }

        @Override
        public boolean flush() {
            if (!port.flush()) {
                return false;
            }
            held.freeKept(port);
            return true;
        }

        @Override
        public int waiting() {
            return port.waiting();
        }

        @Override
        public int dropWaiting() {
            int count = port.dropWaiting();
            held.freeKept(port);
            return count;
        }

        @Override
        public int takeRefused(SendFailures failures) {
            return port.takeRefused(failures);
        }

        @Override
        public void takeReports(SendFailures failures) {
            port.takeReports(failures);
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            return port.receive(handler, budget);
        }

        @Override
        public int receiveBriefly(PacketHandler handler, int budget) {
            return port.receiveBriefly(handler, budget);
        }
    }
}
