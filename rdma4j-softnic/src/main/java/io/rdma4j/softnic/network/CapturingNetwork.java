// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;

/**
 * A network that records the packets of another network in a file for Wireshark.
 *
 * <p>It is directly above the sockets, so it records what really leaves: below an {@link ImpairedNetwork}, lost
 * packets are missing, duplicated ones appear twice and damaged ones are damaged.
 */
public final class CapturingNetwork extends ForwardingNetwork {
    private final PcapWriter writer;

    private CapturingNetwork(DatagramNetwork network, PcapWriter writer) {
        super(network);
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
    PacketPort aroundAddress(PacketPort port) {
        return new CapturingPort(port, writer);
    }

    @Override
    PacketPort aroundGroup(PacketPort port) {
        return new CapturingPort(port, writer);
    }

    @Override
    void onLeft(PacketPort port) {
        ((CapturingPort) port).memory.close();
    }

    @Override
    public void await(long timeoutNs) {
        writer.flushIfOld();
        network.await(timeoutNs);
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        writer.flushIfOld();
        return network.await(timeoutNs, selector);
    }

    @Override
    public void close() {
        network.close();
        leaveAll();
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
