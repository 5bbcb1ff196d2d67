package io.rdma4j.softnic.rim;

import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;

/**
 * A rim that records what passes through another one, in a file that Wireshark opens.
 *
 * <p>It lies right above the sockets, so it records what really leaves: beneath an {@link ImpairedRim} lost
 * packets are missing, doubled ones stand twice and damaged ones are damaged.
 */
public final class CapturingRim implements Rim {
    private final Rim rim;
    private final PcapWriter writer;
    private final Ports ports = new Ports();

    private CapturingRim(Rim rim, PcapWriter writer) {
        this.rim = rim;
        this.writer = writer;
    }

    /**
     * {@return a rim that records another one}
     *
     * @param file is overwritten
     * @throws RdmaException ENOENT if its folder is missing, EACCES if the file may not be written, EIO if it
     *         cannot be for another reason
     */
    public static CapturingRim open(Rim rim, java.nio.file.Path file) throws RdmaException {
        try {
            return new CapturingRim(rim, PcapWriter.open(file));
        } catch (IOException e) {
            rim.close();
            throw new RdmaException(errno(e), "open device",
                    "packets cannot be recorded in " + file + ": " + reason(file, e), e);
        }
    }

    private static Errno errno(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> Errno.ENOENT;
            case AccessDeniedException denied -> Errno.EACCES;
            default -> Errno.EIO;
        };
    }

    /** What went wrong, without the name of the file, which exceptions of files repeat. */
    private static String reason(java.nio.file.Path file, IOException e) {
        return switch (e) {
            case NoSuchFileException missing ->
                "there is no folder " + file.toAbsolutePath().normalize().getParent();
            case AccessDeniedException denied -> "permission denied";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> String.valueOf(e.getMessage());
        };
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
        return ports.add(new CapturingPort(rim.open(local), writer));
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        return ports.add(new CapturingPort(rim.join(group), writer));
    }

    @Override
    public void leave(Gid group) {
        ports.remove(group);
        rim.leave(group);
    }

    @Override
    public boolean maySkipOwn() {
        return false;
    }

    @Override
    public boolean pollDue(long nowNs) {
        return rim.pollDue(nowNs);
    }

    @Override
    public long nextDueNs() {
        return rim.nextDueNs();
    }

    @Override
    public void await(long timeoutNs) {
        writer.flushIfOld();
        rim.await(timeoutNs);
    }

    @Override
    public void wake() {
        rim.wake();
    }

    @Override
    public void close() {
        rim.close();
        try {
            writer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class CapturingPort implements PacketPort {
        private final PacketPort port;
        private final PcapWriter writer;
        private final PacketSealer sealer = new PacketSealer(Arena.ofAuto());

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
        public int takeRefused() {
            return port.takeRefused();
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
