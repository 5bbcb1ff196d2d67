package io.rdma4j.softnic.linux;

import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.softnic.rim.PacketHandler;
import io.rdma4j.softnic.rim.PacketPort;
import io.rdma4j.softnic.rim.PacketSealer;
import io.rdma4j.softnic.rim.ReceivedDatagram;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A port on a {@link LinuxSocket}. */
final class LinuxPort implements PacketPort {
    private final LinuxSocket socket;
    private final Gid local;
    private final int interfaceIndex;
    private final PacketSealer sealer;
    private final Arrivals arrivals;
    private final ReceivedDatagram received = new ReceivedDatagram();
    private final ByteBuffer datagramView;
    private final MemorySegment header;
    private final MemorySegment name;
    private final MemorySegment iovec;
    private final MemorySegment control;
    private final long datagramAddress;
    private boolean isKept;

    LinuxPort(LinuxSocket socket, Gid local, int interfaceIndex, Arena arena) {
        this.socket = socket;
        this.local = local;
        this.interfaceIndex = interfaceIndex;
        sealer = new PacketSealer(arena);
        arrivals = new Arrivals(arena);
        datagramAddress = sealer.memory().address();
        datagramView = sealer.memory().asByteBuffer();
        name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
        control = arena.allocate(PathControl.MAX_LENGTH, 8);
        header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.name(header, name);
        MessageHeader.iovecs(header, iovec, 1);
    }

    @Override
    public Gid local() {
        return local;
    }

    @Override
    public Sent send(OutgoingPacket packet) {
        ByteBuffer datagram;
        try {
            datagram = sealer.seal(packet);
        } catch (IllegalStateException | InternalError memoryGone) {
            // The arena of the payload was closed, or the file it maps was cut short.
            return Sent.REFUSED;
        }
        return send(packet.path(), datagram.remaining());
    }

    @Override
    public Sent send(ByteBuffer datagram, Path path) {
        int length = datagram.limit();
        datagramView.clear().put(datagram.position(0));
        return send(path, length);
    }

    private Sent send(Path path, int length) {
        if (path.destination().isIpv4() != local.isIpv4()) {
            return Sent.REFUSED;
        }
        MessageHeader.nameLength(header, SocketAddress.write(name, path.destination(),
                Path.UDP_PORT, interfaceIndex));
        MessageHeader.iovec(iovec, 0, datagramAddress, length);
        long controlLength = PathControl.write(control, path);
        MessageHeader.control(header, controlLength == 0 ? MemorySegment.NULL : control,
                controlLength);
        return send();
    }

    private Sent send() {
        long sent = socket.send(header);
        if (sent == -LinuxCalls.EAGAIN) {
            isKept = true;
            return Sent.KEPT;
        }
        // No route, packet too long for the interface, a firewall: as if lost on the wire.
        return sent < 0 ? Sent.REFUSED : Sent.SENT;
    }

    @Override
    public boolean flush() {
        if (!isKept) {
            return true;
        }
        isKept = false;
        return send() != Sent.KEPT;
    }

    @Override
    public int receive(PacketHandler handler, int budget) {
        int count = 0;
        while (count < budget && arrivals.receive(socket)) {
            count += handUp(handler);
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
        do {
            int length = Math.min(arrivals.segmentLength(), end - start);
            int identification = sealer.identify(arrivals.bytesForCheck(), arrivals.bytes(), start,
                    length, source, local, sourcePort);
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

    void close() {
        isKept = false;
        socket.close();
    }
}
