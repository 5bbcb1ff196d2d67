package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A network that records the packets of another network in a file for Wireshark.
 *
 * <p>It is directly above the sockets, so it records what really leaves: below an {@link ImpairedNetwork}, lost
 * packets are missing, duplicated ones appear twice and damaged ones are damaged.
 */
public final class CapturingNetwork implements DatagramNetwork {
    private final DatagramNetwork network;
    private final PcapWriter writer;
    private final Ports ports = new Ports();

    private CapturingNetwork(DatagramNetwork network, PcapWriter writer) {
        this.network = network;
        this.writer = writer;
    }

    /**
     * {@return a network that records another network}
     *
     * @param file the file, which is overwritten
     * @throws RdmaException ENOENT if its folder is missing, EACCES if the file may not be written, EIO if it
     *         cannot be for another reason
     */
    public static CapturingNetwork open(DatagramNetwork network, java.nio.file.Path file)
            throws RdmaException {
        try {
            return new CapturingNetwork(network, PcapWriter.open(file));
        } catch (RdmaException e) {
            network.close();
            throw e;
        }
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
    public PacketPort open(InetAddress local) throws RdmaException {
        return capturing(network.open(local));
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        return capturing(network.join(group));
    }

    private PacketPort capturing(PacketPort port) throws RdmaException {
        try {
            return ports.add(new CapturingPort(port, writer));
        } catch (OutOfMemoryError none) {
            network.leave(port.local());
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    @Override
    public void leave(Gid group) {
        PacketPort port = ports.remove(group);
        network.leave(group);
        if (port != null) {
            ((CapturingPort) port).memory.close();
        }
    }

    @Override
    public void lookAtRoutes() {
        network.lookAtRoutes();
    }

    @Override
    public int longestPacket(Gid local, Gid remote) {
        return network.longestPacket(local, remote);
    }

    @Override
    public PortSharing sharing() {
        return network.sharing();
    }

    @Override
    public @Nullable SharedMemory sharedMemory() {
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
    public void await(long timeoutNs) {
        writer.flushIfOld();
        network.await(timeoutNs);
    }

    @Override
    public void wake() {
        network.wake();
    }

    @Override
    public void close() {
        network.close();
        for (PacketPort port : ports.inOrder()) {
            ((CapturingPort) port).memory.close();
        }
        ports.clear();
        writer.close();
    }

    private static final class CapturingPort implements PacketPort {
        private final PacketPort port;
        private final PcapWriter writer;
        private final Arena memory = Arena.ofShared();
        private final PacketSealer sealer = new PacketSealer(memory);

        CapturingPort(PacketPort port, PcapWriter writer) {
            this.port = port;
            this.writer = writer;
        }

        @Override
        public Gid local() {
            return port.local();
        }

        @Override
        public Sent send(OutgoingPacket packet) {
            ByteBuffer datagram = sealer.seal(packet);
            return datagram == null ? Sent.PAYLOAD_GONE : send(datagram, packet.path());
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            Sent sent = port.send(datagram, path);
            if (sent != Sent.REFUSED) {
                record(datagram, path);
            }
            return sent;
        }

        private void record(ByteBuffer datagram, Path path) {
            writer.write(local(), path.destination(), path.trafficClass(), path.hops(),
                    Path.UDP_PORT, 0, datagram.duplicate().rewind());
        }

        @Override
        public Sent sendAsking(OutgoingPacket packet) {
            ByteBuffer datagram = sealer.seal(packet);
            if (datagram == null) {
                return Sent.PAYLOAD_GONE;
            }
            Sent sent = port.sendAsking(packet);
            if (sent != Sent.REFUSED) {
                record(datagram, packet.path());
            }
            return sent;
        }

        @Override
        public boolean flush() {
            return port.flush();
        }

        @Override
        public int waiting() {
            return port.waiting();
        }

        @Override
        public int dropWaiting() {
            return port.dropWaiting();
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
            return port.receive(new PacketHandler() {
                @Override
                public void onDatagram(ReceivedDatagram datagram) {
                    writer.write(datagram.source(), datagram.local(), 0, Path.DEFAULT_HOPS,
                            datagram.sourcePort(),
                            datagram.identification(), datagram.memory()
                                    .asSlice(datagram.offset(), datagram.length()).asByteBuffer());
                    handler.onDatagram(datagram);
                }

                @Override
                public void onDamaged(Gid source, int length) {
                    handler.onDamaged(source, length);
                }
            }, budget);
        }
    }
}
