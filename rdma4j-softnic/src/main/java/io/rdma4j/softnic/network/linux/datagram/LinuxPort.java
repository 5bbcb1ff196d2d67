// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PacketSealer;
import io.rdma4j.softnic.network.PortProbe;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.softnic.network.linux.sharing.PassedDatagram;
import io.rdma4j.softnic.network.linux.sharing.ReuseportProbe;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/** A port on a {@link LinuxSocket}. */
final class LinuxPort implements PacketPort {
    private static final System.Logger LOG = System.getLogger(LinuxPort.class.getName());
    private static final int FLOW_BITS = 4;
    private static final int FLOWS = 1 << FLOW_BITS;
    /** Spreads consecutive numbers. */
    private static final int GOLDEN_RATIO = 0x9e3779b1;

    private final LinuxSocket socket;
    private final @Nullable SharedPort shared;
    private final Gid local;
    private final PacketSealer sealer;
    private final Icrc icrc = new Icrc();
    private final Flow common;
    private final Flow.Opener opener;
    private final Ways ways;
    /** By number; null until the first packet. */
    private final @Nullable Flow[] flows = new Flow[FLOWS];
    /** Those with packets that have not left, one bit each. */
    private int unsent;
    private final Arrivals arrivals;
    private final ReceivedDatagram received = new ReceivedDatagram();
    private final Arena memory;
    private boolean isCommonUnsent;
    private boolean isReceiving;
    /** The socket may still be there: see {@link SharedPort#leave}. */
    private boolean isClosed;

    /**
     * @param shared the sharing of the port, null if no other process can have it
     * @param common the flow from port 4791, for packets that were sealed elsewhere
     * @param opener opens the flows of packets
     * @param ways by which interfaces they send
     * @param memory the arena of the port and its socket, which is closed with it
     */
    LinuxPort(LinuxSocket socket, @Nullable SharedPort shared, Gid local, Flow common,
            Flow.Opener opener, Ways ways, Arena memory) {
        this.socket = socket;
        this.shared = shared;
        this.local = local;
        this.memory = memory;
        this.common = common;
        this.opener = opener;
        this.ways = ways;
        sealer = new PacketSealer(memory);
        arrivals = new Arrivals(memory);
    }

    @Override
    public Gid local() {
        return local;
    }

    /** {@return the file descriptor of its socket, negative if that is closed} */
    int descriptor() {
        return socket.descriptor();
    }

    /** Asks the system again by which interfaces packets leave. For any thread. */
    void lookAtRoutes() {
        ways.lookAgain();
    }

    @Override
    public int maxMiddleSegments() {
        return Flow.PACKETS_AT_ONCE;
    }

    @Override
    public Sent send(OutgoingPacket packet) {
        if (!mayGo(packet.path())) {
            return Sent.REFUSED;
        }
        int number = flowOf(packet);
        Flow flow = flow(number);
        if (!flow.add(packet)) {
            return Sent.PAYLOAD_GONE;
        }
        unsent |= 1 << number;
        return flow.makeRoom() ? Sent.SENT : Sent.KEPT;
    }

    /**
     * Those to its own address have one flow: no switch spreads them there, no card puts them together, and what is in one flow leaves by one system call.
     */
    @Override
    public boolean sendsTogether(Gid destination) {
        return destination.isLoopback() || destination.equals(local);
    }

    private int flowOf(OutgoingPacket packet) {
        return sendsTogether(packet.path().destination())
                ? 0
                : spread(packet.destinationQueuePairNumber());
    }

    /** {@return the number of a flow} Packets of a queue pair have one, and so keep their order. */
    static int spread(int destinationQueuePair) {
        return (destinationQueuePair * GOLDEN_RATIO) >>> (Integer.SIZE - FLOW_BITS);
    }

    private Flow flow(int number) {
        Flow flow = flows[number];
        if (flow == null) {
            try {
                flow = opener.open(number);
            } catch (LinuxSocket.Refused e) {
                LOG.log(System.Logger.Level.DEBUG, "packets leave from port 4791", e);
                flow = common;
            }
            flows[number] = flow;
        }
        return flow;
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
        common.add(datagram.position(0), path);
        isCommonUnsent = true;
        return common.makeRoom() ? Sent.SENT : Sent.KEPT;
    }

    private boolean mayGo(Path path) {
        return path.destination().isIpv4() == local.isIpv4() && !isClosed;
    }

    @Override
    public boolean flush() {
        if (isClosed) {
            return true;
        }
        isCommonUnsent = isCommonUnsent && !common.flush();
        int left = unsent;
        while (left != 0) {
            int number = Integer.numberOfTrailingZeros(left);
            left &= left - 1;
            if (flow(number).flush()) {
                unsent &= ~(1 << number);
            }
        }
        return unsent == 0 && !isCommonUnsent;
    }

    @Override
    public int waiting() {
        int waiting = isCommonUnsent ? common.waiting() : 0;
        for (int left = unsent; left != 0; left &= left - 1) {
            waiting += flow(Integer.numberOfTrailingZeros(left)).waiting();
        }
        return waiting;
    }

    @Override
    public int dropWaiting() {
        int count = waiting();
        common.clear();
        for (int left = unsent; left != 0; left &= left - 1) {
            flow(Integer.numberOfTrailingZeros(left)).clear();
        }
        isCommonUnsent = false;
        unsent = 0;
        return count;
    }

    @Override
    public int takeRefused(SendFailures failures) {
        int refused = common.takeRefused(failures);
        for (Flow flow : flows) {
            if (flow != null && flow != common) {
                refused += flow.takeRefused(failures);
            }
        }
        return refused;
    }

    @Override
    public void takeReports(SendFailures failures) {
        if (isClosed) {
            return;
        }
        for (Flow flow : flows) {
            if (flow != null && flow != common) {
                flow.takeReports(failures);
            }
        }
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
            while (goesOn && count < budget && !isClosed && arrivals.receive(socket)) {
                count += handUp(handler);
                goesOn = !isBrief || arrivals.isLong();
            }
        } finally {
            isReceiving = false;
            if (isClosed) {
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
            if (shared != null && ReuseportProbe.is(arrivals.bytes(), start, length)) {
                shared.onProbe(ReuseportProbe.place(arrivals.bytes(), start),
                        ReuseportProbe.nonce(arrivals.bytes(), start));
                return count + 1;
            }
            if (shared != null && PassedDatagram.is(arrivals.bytes(), start, length)) {
                handUpPassedOn(handler, shared, start, length);
                return count + 1;
            }
            // The datagrams of a burst are numbered on.
            identification = icrc.identify(source, local, sourcePort, identification + 1 & 0xffff,
                    arrivals.bytesForCheck(), start, length);
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

    /** Another process, which has checked its ICRC, did not know for whom it is. */
    private void handUpPassedOn(PacketHandler handler, SharedPort by, int start, int length) {
        if (!by.isKey(PassedDatagram.key(arrivals.bytes(), start))) {
            return;
        }
        handler.onDatagram(received.fill(local, PassedDatagram.source(arrivals.bytes(), start), 0,
                0, arrivals.bytes(), start + PassedDatagram.HEADER_LENGTH,
                length - PassedDatagram.HEADER_LENGTH).passedOn());
    }

    /** Sends the accepted packets, if there is room, and closes. */
    void close() {
        if (isClosed) {
            return;
        }
        flush();
        isClosed = true;
        common.clear();
        for (Flow flow : flows) {
            if (flow != null && flow != common) {
                flow.close();
            }
        }
        if (shared == null) {
            socket.close();
        } else {
            shared.leave(socket);
        }
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
}
