// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A port on a {@link DatagramChannel}: works wherever Java does.
 *
 * <p>The channel of an unconnected socket takes one buffer for each datagram, so here, and only here, the
 * pieces of a packet are copied into one buffer, which is the datagram itself.
 */
final class NioPort implements PacketPort {
    /** How many peer addresses are cached; those of more peers are created anew. */
    private static final int KEPT_PEERS = 4096;
    private static final int MOST_PROBES = 16;
    /** Between two looks there may be no time, because another request is due. */
    private static final int MOST_LOOKS = 8;

    private final Arena memory = Arena.ofShared();
    private final DatagramChannel channel;
    private final Gid local;
    private final int interfaceIndex;
    private final PacketSealer sealer;
    private final Icrc icrc = new Icrc();
    private final MemorySegment received;
    private final ByteBuffer receivedView;
    private final ByteBuffer receivedForCheck;
    private final Map<Gid, InetSocketAddress> targets = new HashMap<>();
    private final Map<InetAddress, Gid> sources = new HashMap<>();
    private final ReceivedDatagram datagram = new ReceivedDatagram();
    private @Nullable InetSocketAddress lastSource;
    private Gid lastSourceGid = Gid.ZERO;
    private int trafficClass;
    private int multicastHops = 1;
    private boolean isReceiving;
    private @Nullable ByteBuffer kept;
    private @Nullable InetSocketAddress keptTarget;
    /** Why a packet was refused since it was taken last, and its destination. */
    private @Nullable Errno refusal;
    private @Nullable InetSocketAddress refusedTarget;
    /** Sockets by which peers elsewhere were asked, for a while. */
    private final Map<Gid, Probe> probes = new LinkedHashMap<>();

    private static final class Probe {
        private final DatagramChannel channel;
        private final HostProbe ofHost;
        private int looksLeft = MOST_LOOKS;

        Probe(DatagramChannel channel, HostProbe ofHost) {
            this.channel = channel;
            this.ofHost = ofHost;
        }

        /** {@return what the system reports: ECONNREFUSED, EHOSTUNREACH, or null for nothing} */
        @Nullable
        Errno look() {
            looksLeft--;
            if (PortProbe.isRefused(channel)) {
                return Errno.ECONNREFUSED;
            }
            return ofHost.findsNobody() ? Errno.EHOSTUNREACH : null;
        }

        boolean isOver() {
            return looksLeft == 0;
        }

        void close() {
            PortableNetwork.close(channel);
            ofHost.close();
        }
    }

    /** @param interfaceIndex of the interface that addresses of the link belong to */
    NioPort(DatagramChannel channel, Gid local, int interfaceIndex) {
        this.channel = channel;
        this.local = local;
        this.interfaceIndex = interfaceIndex;
        try {
            sealer = new PacketSealer(memory);
            received = memory.allocate(PacketSealer.CAPACITY, 64);
        } catch (OutOfMemoryError none) {
            memory.close();
            throw none;
        }
        receivedView = received.asByteBuffer();
        receivedForCheck = received.asByteBuffer();
    }

    @Override
    public Gid local() {
        return local;
    }

    @Override
    public Sent send(OutgoingPacket packet) {
        if (!channel.isOpen()) {
            return Sent.REFUSED;
        }
        ByteBuffer datagram = sealer.seal(packet);
        return datagram == null ? Sent.PAYLOAD_GONE : send(datagram, packet.path());
    }

    @Override
    public Sent sendAsking(OutgoingPacket packet) {
        return PortProbe.isPossible(packet.path())
                ? PortProbe.send(packet, sealer)
                : sendAndAsk(packet);
    }

    /**
     * Sends a packet, and asks by an empty datagram from a socket of its own whether any socket has the port there: the
     * packet itself must leave from this port, because over IPv4 the system chooses an Identification for a connected
     * socket, which the ICRC covers (ADR 6), so that others than rdma4j would drop it.
     */
    private Sent sendAndAsk(OutgoingPacket packet) {
        Gid destination = packet.path().destination();
        InetSocketAddress target = target(destination);
        Sent sent = send(packet);
        if (sent != Sent.SENT || target == null || probes.size() >= MOST_PROBES) {
            return sent;
        }
        Probe before = probes.remove(destination);
        if (before != null) {
            before.close();
        }
        try {
            probes.put(destination, ask(target.getAddress()));
        } catch (IOException | SecurityException notAsked) {
            // The packet has left: its answer, or the absence of one, shows whether anybody is there.
        }
        return sent;
    }

    private Probe ask(InetAddress destination) throws IOException {
        InetAddress source = LinkScope.address(local, interfaceIndex);
        DatagramChannel asking = PortProbe.open(source, destination);
        boolean isAsked = false;
        try {
            asking.write(ByteBuffer.allocate(0));
            Probe probe = new Probe(asking, HostProbe.begin(source, destination));
            isAsked = true;
            return probe;
        } finally {
            if (!isAsked) {
                PortableNetwork.close(asking);
            }
        }
    }

    @Override
    public void takeReports(SendFailures failures) {
        if (probes.isEmpty()) {
            return;
        }
        for (Map.Entry<Gid, Probe> asked : List.copyOf(probes.entrySet())) {
            Probe probe = asked.getValue();
            Errno why = probe.look();
            if (why != null || probe.isOver()) {
                probes.remove(asked.getKey());
                probe.close();
            }
            if (why != null) {
                failures.onFailure(asked.getKey(), why);
            }
        }
    }

    @Override
    public int takeRefused(SendFailures failures) {
        Errno why = refusal;
        InetSocketAddress target = refusedTarget;
        if (why != null && target != null) {
            refusal = null;
            failures.onFailure(Gid.of(target.getAddress()), why);
        }
        // They were refused when they were sent.
        return 0;
    }

    private void onRefused(Exception refused, InetSocketAddress target) {
        refusal = KnownErrno.of(SocketErrors.numberOf(refused));
        refusedTarget = target;
    }

    @Override
    public Sent send(ByteBuffer datagram, Path path) {
        try {
            follow(path);
        } catch (IOException refused) {
            return Sent.REFUSED;
        }
        return send(datagram, target(path.destination()));
    }

    /**
     * Sets the options of the channel to those of a path; the JDK has no option for the hop limit of
     * unicasts.
     */
    private void follow(Path path) throws IOException {
        int wanted = path.trafficClass() & 0xff;
        if (wanted != trafficClass) {
            channel.setOption(StandardSocketOptions.IP_TOS, wanted);
            trafficClass = wanted;
        }
        if (path.destination().isMulticast() && path.hops() != multicastHops) {
            channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, path.hops());
            multicastHops = path.hops();
        }
    }

    private Sent send(ByteBuffer datagram, @Nullable InetSocketAddress target) {
        if (target == null) {
            return Sent.REFUSED;
        }
        try {
            if (channel.send(datagram, target) == 0) {
                kept = datagram;
                keptTarget = target;
                return Sent.KEPT;
            }
            return Sent.SENT;
        } catch (IOException | SecurityException refused) {
            // No route, packet too long for the interface, a firewall: as if lost on the wire.
            onRefused(refused, target);
            return Sent.REFUSED;
        }
    }

    @Override
    public boolean flush() {
        ByteBuffer datagram = kept;
        if (datagram == null) {
            return true;
        }
        kept = null;
        return send(datagram.position(0), keptTarget) != Sent.KEPT;
    }

    @Override
    public int waiting() {
        return kept == null ? 0 : 1;
    }

    @Override
    public int dropWaiting() {
        int count = waiting();
        kept = null;
        return count;
    }

    @Override
    public int receive(PacketHandler handler, int budget) {
        isReceiving = true;
        try {
            return receiveOpen(handler, budget);
        } finally {
            isReceiving = false;
            if (!channel.isOpen()) {
                free();
            }
        }
    }

    private int receiveOpen(PacketHandler handler, int budget) {
        int count = 0;
        while (count < budget && channel.isOpen()) {
            receivedView.clear();
            InetSocketAddress source;
            try {
                source = (InetSocketAddress) channel.receive(receivedView);
            } catch (IOException unreachable) {
                // An error of an earlier sent datagram; nothing was received.
                return count;
            }
            if (source == null) {
                return count;
            }
            count++;
            int length = receivedView.position();
            Gid peer = gid(source);
            int identification = icrc.identify(peer, local, source.getPort(), 0,
                    receivedForCheck, 0, length);
            if (identification < 0) {
                handler.onDamaged(peer, length);
            } else {
                handler.onDatagram(datagram.fill(local, peer, source.getPort(), identification,
                        received, 0, length));
            }
        }
        return count;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        kept = null;
        probes.values().forEach(Probe::close);
        probes.clear();
        // A received packet may close this port.
        if (!isReceiving) {
            free();
        }
    }

    private void free() {
        if (memory.scope().isAlive()) {
            memory.close();
        }
    }

    /** The channel hands out the same object while the sender stays the same. */
    @SuppressWarnings("ReferenceEquality")
    private Gid gid(InetSocketAddress source) {
        if (source != lastSource) {
            if (sources.size() >= KEPT_PEERS) {
                sources.clear();
            }
            lastSourceGid = sources.computeIfAbsent(source.getAddress(), Gid::of);
            lastSource = source;
        }
        return lastSourceGid;
    }

    private @Nullable InetSocketAddress target(Gid destination) {
        InetSocketAddress target = targets.get(destination);
        if (target == null) {
            if (destination.isIpv4() != local.isIpv4()) {
                return null;
            }
            if (targets.size() >= KEPT_PEERS) {
                targets.clear();
            }
            target = new InetSocketAddress(LinkScope.address(destination, interfaceIndex),
                    Path.UDP_PORT);
            targets.put(destination, target);
        }
        return target;
    }
}
