// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Predicate;

/**
 * A network in virtual time that loses, delays, repeats and damages datagrams as a seed says.
 */
public final class SimulatedNetwork {
    /** Prints every packet, for a seed that fails. */
    private static final boolean TRACE = Boolean.getBoolean("rdma4j.test.simulation.trace");
    private static final int UDP_PORT = Path.UDP_PORT;
    private static final long LATENCY_NS = 20_000;
    private static final int MOST_OVERTAKEN_NS = 10 * 20_000;
    private static final int PACKETS_AT_ONCE = 15;
    /** What passes between two polls of a node that looks for packets. */
    private static final long POLL_NS = 1_000;

    private final Random random;
    private final Arena arena = Arena.ofAuto();
    private final Map<Gid, List<Port>> ports = new HashMap<>();
    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private long nowNs;
    private long sequence;

    /** The other path between nodes, once it is switched on. */
    public final SimulatedMemory memory = new SimulatedMemory(this::nowNs);

    /** The probability that a datagram is lost. */
    public double loss;
    /** The probability that it arrives twice. */
    public double duplication;
    /** The probability that it is overtaken. */
    public double reordering;
    /** The probability that one of its bits is flipped. */
    public double corruption;

    /**
     * How often the packets with one number to one queue pair are lost or damaged at the most. A reliable connection gives up
     * after some tries, so without a limit there are seeds in which it may.
     */
    public int mostLossesOfAPacket = Integer.MAX_VALUE;

    /** No port can send anything. */
    public boolean takesNothing;

    /** What the system says of packets to a destination, once. */
    public final Map<Gid, Errno> reports = new HashMap<>();

    /** Addresses that no node gets, and why. */
    public final Map<InetAddress, Errno> refused = new HashMap<>();

    private final Map<Long, Integer> losses = new HashMap<>();
    private @Nullable Predicate<PacketView> lossRule;
    private int packets;

    /** Loses just the packets that a rule says, asked once for each. */
    public void loseIf(@Nullable Predicate<PacketView> rule) {
        lossRule = rule;
    }

    /** {@return how many packets were sent} */
    public int packets() {
        return packets;
    }

    /** Sends a packet that no device sent. */
    public void inject(OutgoingPacket packet) {
        carry(packet.path().source(), packet.path().destination(),
                Objects.requireNonNull(new PacketSealer(arena).seal(packet)));
    }

    /** Sends bytes that need not be a packet. */
    public void inject(Gid source, Gid destination, byte[] bytes) {
        flights.add(new Flight(nowNs + LATENCY_NS, sequence++, source, destination, bytes));
    }

    private record Flight(long atNs, long sequence, Gid source, Gid destination, byte[] bytes)
            implements
                Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
        }
    }

    /** @param seed decides what happens to which datagram */
    public SimulatedNetwork(long seed) {
        random = new Random(seed);
    }

    /** {@return the time} */
    public long nowNs() {
        return nowNs;
    }

    /**
     * {@return when the next datagram arrives, {@link Long#MAX_VALUE} if none is under way} What has arrived is under way until
     * its node has looked at its port, which it does not at each poll, but once in many.
     */
    public long nextArrivalNs() {
        if (memory.isPending()) {
            return nowNs;
        }
        Flight next = flights.peek();
        long nextNs = next == null ? Long.MAX_VALUE : next.atNs;
        return isUnread() ? Math.min(nextNs, nowNs + POLL_NS) : nextNs;
    }

    private boolean isUnread() {
        for (List<Port> all : ports.values()) {
            for (Port port : all) {
                if (!port.arrived.isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Lets time pass. */
    public void advanceTo(long timeNs) {
        nowNs = Math.max(nowNs, timeNs);
        while (!flights.isEmpty() && flights.peek().atNs <= nowNs) {
            Flight arrived = flights.remove();
            for (Port port : ports.getOrDefault(arrived.destination, List.of())) {
                port.arrived.add(arrived);
            }
        }
    }

    /** {@return a network for one node} */
    public DatagramNetwork newNode() {
        return new Node();
    }

    private void carry(Gid source, Gid destination, ByteBuffer datagram) {
        packets++;
        boolean isLost = (random.nextDouble() < loss && mayBeLost(datagram))
                || isLostByRule(datagram);
        if (TRACE) {
            trace(source, datagram, isLost);
        }
        if (isLost) {
            return;
        }
        int copies = random.nextDouble() < duplication ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            byte[] bytes = new byte[datagram.remaining()];
            datagram.duplicate().get(bytes);
            if (random.nextDouble() < corruption && mayBeLost(datagram)) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            long delay = random.nextDouble() < reordering
                    ? LATENCY_NS + random.nextInt(MOST_OVERTAKEN_NS)
                    : LATENCY_NS;
            flights.add(new Flight(nowNs + delay, sequence++, source, destination, bytes));
        }
    }

    /** Counts a loss, unless there were enough. */
    private boolean mayBeLost(ByteBuffer datagram) {
        PacketView view = new PacketView();
        if (mostLossesOfAPacket == Integer.MAX_VALUE
                || view.wrap(MemorySegment.ofBuffer(datagram), 0, datagram.remaining()) != null) {
            return true;
        }
        long key = (long) view.destinationQueuePairNumber() << 24 | view.psn();
        int before = losses.getOrDefault(key, 0);
        losses.put(key, Math.min(before + 1, mostLossesOfAPacket));
        return before < mostLossesOfAPacket;
    }

    private boolean isLostByRule(ByteBuffer datagram) {
        Predicate<PacketView> rule = lossRule;
        PacketView view = new PacketView();
        return rule != null
                && view.wrap(MemorySegment.ofBuffer(datagram), 0, datagram.remaining()) == null
                && rule.test(view);
    }

    private void trace(Gid source, ByteBuffer datagram, boolean isLost) {
        PacketView view = new PacketView();
        view.wrap(MemorySegment.ofBuffer(datagram), 0, datagram.remaining());
        System.out.printf("%12d %s %s%s%s%s%n", nowNs, source.address().getHostAddress(), view,
                view.isAcknowledgeRequested() ? " A" : "",
                view.opcode().hasAcknowledgement()
                        ? String.format(" syndrome=%02x msn=%d", view.syndrome(),
                                view.messageNumber())
                        : "",
                isLost ? " LOST" : "");
    }

    private final class Node implements DatagramNetwork {
        private final Ports mine = new Ports();
        private final SharedMemory shared = memory.newNode();

        @Override
        public SharedMemory sharedMemory() {
            return shared;
        }

        @Override
        public List<PacketPort> ports() {
            return mine.inOrder();
        }

        @Override
        public @Nullable PacketPort port(Gid local) {
            return mine.find(local);
        }

        @Override
        public PacketPort open(InetAddress local) throws RdmaException {
            Errno reason = refused.get(local);
            if (reason != null) {
                throw new RdmaException(reason, "open device",
                        local.getHostAddress() + " is refused");
            }
            if (!ports.getOrDefault(Gid.of(local), List.of()).isEmpty()) {
                throw new RdmaException(Errno.EADDRINUSE, "open device",
                        local.getHostAddress() + " is taken");
            }
            memory.open(shared, Gid.of(local));
            return add(Gid.of(local));
        }

        private PacketPort add(Gid local) {
            Port port = new Port(local);
            ports.computeIfAbsent(local, l -> new ArrayList<>()).add(port);
            mine.add(port);
            return port;
        }

        @Override
        public PacketPort join(Gid group) {
            return add(group);
        }

        @Override
        public void leave(Gid group) {
            PacketPort port = mine.remove(group);
            if (port != null) {
                close(port);
            }
        }

        private void close(PacketPort port) {
            ports.getOrDefault(port.local(), new ArrayList<>()).remove(port);
        }

        @Override
        public void await(long timeoutNs) {
            throw new IllegalStateException("nobody waits in virtual time");
        }

        @Override
        public void wake() {}

        @Override
        public void close() {
            mine.inOrder().forEach(this::close);
        }
    }

    private record Kept(ByteBuffer datagram, Path path) {}

    private final class Port implements PacketPort {
        private final Gid local;
        private final List<Flight> arrived = new ArrayList<>();
        private final PacketSealer sealer = new PacketSealer(arena);
        private final Icrc icrc = new Icrc();
        private final ReceivedDatagram datagram = new ReceivedDatagram();
        private final MemorySegment received = arena.allocate(PacketSealer.CAPACITY, 64);
        /** What has found no room. */
        private final List<Kept> kept = new ArrayList<>();

        Port(Gid local) {
            this.local = local;
        }

        @Override
        public Gid local() {
            return local;
        }

        @Override
        public int maxMiddleSegments() {
            return PACKETS_AT_ONCE;
        }

        @Override
        public void takeReports(SendFailures failures) {
            reports.forEach(failures::onFailure);
            reports.clear();
        }

        @Override
        public Sent send(OutgoingPacket packet) {
            for (int i = 0; i < packet.span(); i++) {
                if (sealer.seal(packet, i, UDP_PORT) == null) {
                    return Sent.PAYLOAD_GONE;
                }
            }
            Sent sent = Sent.SENT;
            for (int i = 0; i < packet.span(); i++) {
                sent = send(Objects.requireNonNull(sealer.seal(packet, i, UDP_PORT)),
                        packet.path());
            }
            return sent;
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            if (takesNothing) {
                ByteBuffer copy = ByteBuffer.allocate(datagram.remaining());
                kept.add(new Kept(copy.put(datagram.duplicate()).flip(), path));
                return Sent.KEPT;
            }
            carry(local, path.destination(), datagram);
            return Sent.SENT;
        }

        @Override
        public boolean flush() {
            if (takesNothing) {
                return kept.isEmpty();
            }
            kept.forEach(each -> carry(local, each.path.destination(), each.datagram));
            kept.clear();
            return true;
        }

        @Override
        public int waiting() {
            return kept.size();
        }

        @Override
        public int dropWaiting() {
            int count = kept.size();
            kept.clear();
            return count;
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            int count = 0;
            while (count < budget && !arrived.isEmpty()) {
                Flight flight = arrived.removeFirst();
                MemorySegment.copy(MemorySegment.ofArray(flight.bytes), 0, received, 0,
                        flight.bytes.length);
                int length = flight.bytes.length;
                int identification = icrc.identify(flight.source, local, UDP_PORT, 0,
                        received.asByteBuffer(), 0, length);
                if (identification < 0) {
                    handler.onDamaged(flight.source, length);
                } else {
                    handler.onDatagram(datagram.fill(local, flight.source, UDP_PORT, identification,
                            received, 0, length));
                }
                count++;
            }
            return count;
        }
    }
}
