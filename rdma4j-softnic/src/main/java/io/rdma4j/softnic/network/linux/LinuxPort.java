package io.rdma4j.softnic.network.linux;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PacketSealer;
import io.rdma4j.softnic.network.PortProbe;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/** A port on a {@link LinuxSocket}. */
final class LinuxPort implements PacketPort {
    private final LinuxSocket socket;
    private final @Nullable SharedPort shared;
    private final Gid local;
    private final PacketSealer sealer;
    private final Burst burst;
    private final Arrivals arrivals;
    private final ReceivedDatagram received = new ReceivedDatagram();
    private final Arena memory;
    private boolean isReceiving;

    /**
     * @param shared by whose rules the socket was bound, null if nobody else can have the port
     * @param memory what the socket lives in as well; the port's own, which ends with it
     */
    LinuxPort(LinuxSocket socket, @Nullable SharedPort shared, Gid local, int interfaceIndex,
            Arena memory) {
        this.socket = socket;
        this.shared = shared;
        this.local = local;
        this.memory = memory;
        sealer = new PacketSealer(memory);
        burst = new Burst(interfaceIndex, memory);
        arrivals = new Arrivals(memory);
    }

    @Override
    public Gid local() {
        return local;
    }

    @Override
    public int maxMiddleSegments() {
        return Burst.PACKETS_AT_ONCE;
    }

    @Override
    public Sent send(OutgoingPacket packet) {
        if (!mayGo(packet.path())) {
            return Sent.REFUSED;
        }
        return burst.add(packet) ? added() : Sent.PAYLOAD_GONE;
    }

    @Override
    public Sent sendAsking(OutgoingPacket packet) {
        return PortProbe.isPossible(packet.path())
                ? PortProbe.send(packet, sealer)
                : send(packet);
    }

    @Override
    public Sent send(ByteBuffer datagram, Path path) {
        if (!mayGo(path)) {
            return Sent.REFUSED;
        }
        burst.add(datagram.position(0), path);
        return added();
    }

    private boolean mayGo(Path path) {
        return path.destination().isIpv4() == local.isIpv4() && !socket.isClosed();
    }

    private Sent added() {
        return burst.isFull() && !burst.send(socket) ? Sent.KEPT : Sent.SENT;
    }

    @Override
    public boolean flush() {
        return socket.isClosed() || burst.send(socket);
    }

    @Override
    public int takeRefused() {
        return burst.takeRefused();
    }

    @Override
    public int receive(PacketHandler handler, int budget) {
        return receive(handler, budget, false);
    }

    @Override
    public int receiveBriefly(PacketHandler handler, int budget) {
        return receive(handler, budget, true);
    }

    private int receive(PacketHandler handler, int budget, boolean isBrief) {
        int count = 0;
        isReceiving = true;
        try {
            boolean goesOn = true;
            while (goesOn && count < budget && !socket.isClosed() && arrivals.receive(socket)) {
                count += handUp(handler);
                goesOn = !isBrief || arrivals.isLong();
            }
        } finally {
            isReceiving = false;
            if (socket.isClosed()) {
                free();
            }
        }
        return count;
    }

    /** {@return how many datagrams were handed up} */
    private int handUp(PacketHandler handler) {
        Gid source = arrivals.source();
        int sourcePort = arrivals.sourcePort();
        int end = arrivals.length();
        int count = 0;
        int start = 0;
        int identification = -1;
        do {
            int length = Math.min(arrivals.segmentLength(), end - start);
            if (shared != null && PlaceProbe.is(arrivals.bytes(), start, length)) {
                shared.onProbe(PlaceProbe.place(arrivals.bytes(), start),
                        PlaceProbe.nonce(arrivals.bytes(), start));
                return count + 1;
            }
            // The datagrams of a burst are numbered on.
            identification = sealer.identify(arrivals.bytesForCheck(), arrivals.bytes(), start,
                    length, source, local, sourcePort, identification + 1 & 0xffff);
            if (identification < 0) {
                handler.onDamaged(source, length);
            } else {
                handler.onDatagram(received.fill(local, source, sourcePort, identification,
                        arrivals.bytes(), start, length));
            }
            start += length;
            count++;
        } while (start < end);
        return count;
    }

    /** What it was given leaves, if there is room. */
    void close() {
        if (socket.isClosed()) {
            return;
        }
        burst.send(socket);
        burst.clear();
        if (shared == null) {
            socket.close();
        } else {
            shared.leave(socket);
        }
        // What has arrived may be about to close it.
        if (!isReceiving) {
            free();
        }
    }

    private void free() {
        if (memory.scope().isAlive()) {
            memory.close();
        }
    }
}
