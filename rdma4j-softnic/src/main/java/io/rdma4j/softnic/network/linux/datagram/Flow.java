// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.KnownErrno;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PacketSealer;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.softnic.network.linux.calls.ControlMessage;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.Outlet;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.softnic.network.linux.sharing.SteeringProgram;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_UDP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_SEGMENT;

/**
 * The packets that leave from one UDP port. Switches and receiving cards treat packets with the same ports as one flow: they
 * take one path and may be merged. Packets are collected here, because the system accepts many in one call. For one thread
 * at a time.
 *
 * <p>Consecutive packets of one path and length, the last of which may be shorter, form one message that the kernel, or the
 * network card, cuts into datagrams; source: udp(7), {@code UDP_SEGMENT}. The k-th of them gets the IPv4 Identification k,
 * and its ICRC is computed for that. One call also sends several messages. The packets are stored one after the other, so
 * each message is one range of memory.
 */
final class Flow {
    /** The maximum that every kernel with this option accepts. */
    private static final int MAX_SEGMENTS = 64;
    private static final int MAX_MESSAGES = 32;
    /** With more destinations than this, all are forgotten and tried again. */
    private static final int MAX_UNSEGMENTED = 4096;
    private static final int MAX_REFUSALS = 64;
    /** An IP packet has at most 65,535 bytes. */
    private static final int MAX_MESSAGE_BYTES = 65_000;
    /** Fills a message with packets of the longest path MTU. */
    static final int PACKETS_AT_ONCE = MAX_MESSAGE_BYTES / PacketSealer.LONGEST;
    /**
     * A flow is full if it has no room for the longest packet in one message. Packets that are added at once may exceed
     * this.
     */
    private static final int CAPACITY = MAX_MESSAGE_BYTES
            + PACKETS_AT_ONCE * PacketSealer.LONGEST;
    /** {@code struct mmsghdr}: a header, and room for what the call reports. */
    private static final long ENTRY = MessageHeader.LENGTH + 8;
    private static final long NAME = 32;
    private static final long CONTROL = PathControl.MAX_LENGTH + ControlMessage.SPACE;

    private final Outlet outlet;
    private final int interfaceIndex;
    private final Ways ways;
    private final int sourcePort;
    private final Icrc icrc = new Icrc();
    private final MemorySegment memory;
    /** The same bytes, to compute with; big endian. */
    private final ByteBuffer bytes;
    /** Packets that are added at once may need a message each, if they must not be segmented. */
    private final Message[] messages = new Message[MAX_MESSAGES + PACKETS_AT_ONCE];
    /** Destinations that segmented messages do not reach. */
    private final Set<Gid> unsegmented = new HashSet<>();
    private int usedBytes;
    private int messageCount;
    private int sentMessages;
    private int refused;
    private final ErrorQueue reports;
    /** Destinations of packets that were refused since they were taken last, and why. */
    private final Map<Gid, Errno> refusals = new HashMap<>();
    /** The message whose sending failed because of a report, and was tried again. */
    private int triedAgain = -1;

    /**
     * @param outlet sends the messages
     * @param sourcePort the source UDP port
     * @param interfaceIndex the index of the interface for link-local addresses
     * @param ways by which interfaces packets leave
     */
    Flow(Outlet outlet, int sourcePort, int interfaceIndex, Ways ways, Arena arena) {
        this.outlet = outlet;
        this.interfaceIndex = interfaceIndex;
        this.ways = ways;
        this.sourcePort = sourcePort;
        memory = arena.allocate(CAPACITY + PacketSealer.CAPACITY, 64);
        bytes = memory.asByteBuffer();
        reports = new ErrorQueue(arena);
        MemorySegment entries = arena.allocate(messages.length * ENTRY, 8);
        for (int i = 0; i < messages.length; i++) {
            messages[i] = new Message(entries.asSlice(i * ENTRY), arena);
        }
    }

    /** Opens flows in addition to that of port 4791. */
    @FunctionalInterface
    interface Opener {
        /**
         * {@return a flow from a port of its own}
         *
         * @param number tells the flows of a port apart
         * @throws LinuxSocket.Refused if the system gives no more sockets or ports
         */
        Flow open(int number) throws LinuxSocket.Refused;
    }

    /** Packets that leave as one. */
    private final class Message {
        /** Starts with the header of this message; those of later ones follow. */
        final MemorySegment header;
        private final MemorySegment name;
        private final MemorySegment iovec;
        private final MemorySegment control;
        private long pathControlLength;
        private Path path = Path.NONE;
        private int process;
        private int start;
        private int length;
        private int segmentLength;
        private int packets;
        private boolean isOpen;
        /** The packets leave one by one, for together they were refused. */
        private boolean isSplit;

        Message(MemorySegment header, Arena arena) {
            this.header = header;
            name = arena.allocate(NAME, 8);
            iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
            control = arena.allocate(CONTROL, 8);
            MessageHeader.name(header, name);
            MessageHeader.iovecs(header, iovec, 1);
        }

        void begin(Path newPath, int packetProcess, int packetLength, boolean mayGrow) {
            path = newPath;
            process = packetProcess;
            start = usedBytes;
            length = packetLength;
            segmentLength = packetLength;
            packets = 1;
            isOpen = mayGrow && !unsegmented.contains(newPath.destination());
            isSplit = false;
            MessageHeader.nameLength(header, SocketAddress.write(name, newPath.destination(),
                    Path.UDP_PORT, interfaceIndex));
            pathControlLength = PathControl.write(control, newPath,
                    ways.to(newPath.destination()).use());
        }

        boolean takes(Path packetPath, int packetProcess, int packetLength) {
            return isOpen && !isSplit && packetLength <= segmentLength && packets < MAX_SEGMENTS
                    && length + packetLength <= MAX_MESSAGE_BYTES && packetProcess == process
                    && goesWith(packetPath);
        }

        private boolean goesWith(Path other) {
            return path.destination().equals(other.destination()) && path.hops() == other.hops()
                    && path.trafficClass() == other.trafficClass();
        }

        void append(int packetLength) {
            length += packetLength;
            packets++;
            // Only the last one may be shorter.
            isOpen = packetLength == segmentLength;
        }

        /** Removes the packets after the first {@code count}. */
        void shrinkTo(int count) {
            if (packets > count) {
                packets = count;
                length = count * segmentLength;
                isOpen = true;
            }
        }

        /** Completes the header. */
        void address() {
            long controlLength = pathControlLength;
            if (packets > 1 && !isSplit) {
                controlLength = ControlMessage.writeShort(control, controlLength, IPPROTO_UDP,
                        UDP_SEGMENT, segmentLength);
            }
            MessageHeader.control(header, controlLength == 0 ? MemorySegment.NULL : control,
                    controlLength);
            MessageHeader.iovec(iovec, 0, memory.address() + start,
                    isSplit ? Math.min(segmentLength, length) : length);
        }

        /** Splits the message: the packets leave one by one, each with Identification 0, so they are sealed again. */
        void split(int errno) {
            isSplit = true;
            // The interface's MTU may grow again; other errors depend on the path to the destination.
            if (errno != LinuxCalls.EMSGSIZE) {
                if (unsegmented.size() >= MAX_UNSEGMENTED) {
                    unsegmented.clear();
                }
                unsegmented.add(path.destination());
            }
            for (int at = segmentLength; at < length; at += segmentLength) {
                icrc.seal(path, sourcePort, 0, bytes, start + at,
                        Math.min(segmentLength, length - at));
            }
        }

        /** {@return false if there is no room for all of them} */
        boolean sendSplit() {
            while (packets > 0) {
                address();
                long sent = outlet.send(header);
                if (sent < 0 && sent != -LinuxCalls.EAGAIN
                        && reports.take(outlet, Flow.this::onOldReport) > 0) {
                    sent = outlet.send(header);
                }
                if (sent == -LinuxCalls.EAGAIN) {
                    return false;
                }
                if (sent < 0) {
                    refused++;
                    onRefused(path.destination(), (int) -sent);
                }
                packets--;
                start += segmentLength;
                length -= segmentLength;
            }
            return true;
        }
    }

    /**
     * Adds a packet; its payload is not needed any more afterwards.
     *
     * @return false if the memory of its payload no longer exists; nothing is added then
     */
    boolean add(OutgoingPacket packet) {
        if (packet.span() == 1) {
            return add(packet, 0);
        }
        int bytesBefore = usedBytes;
        int messagesBefore = messageCount;
        Message last = messageCount == 0 ? null : messages[messageCount - 1];
        int packetsBefore = last == null ? 0 : last.packets;
        for (int i = 0; i < packet.span(); i++) {
            if (!add(packet, i)) {
                usedBytes = bytesBefore;
                messageCount = messagesBefore;
                if (last != null) {
                    last.shrinkTo(packetsBefore);
                }
                return false;
            }
        }
        return true;
    }

    private boolean add(OutgoingPacket packet, int index) {
        Path path = packet.path();
        int length = packet.packetLength();
        // The kernel selects the process that shares the receiving port by the first packet of a message: by the upper
        // bits of the queue pair number, and for the management queue pair by the contents.
        int process = packet.destinationQueuePairNumber() >>> PortSharing.QUEUE_PAIR_BITS;
        boolean isManagement = packet
                .destinationQueuePairNumber() == SteeringProgram.MANAGEMENT_QUEUE_PAIR;
        Message last = messageCount == 0 ? null : messages[messageCount - 1];
        Message taking = last != null && !isManagement && last.takes(path, process, length)
                ? last
                : null;
        if (packet.copyTo(index, memory, usedBytes) == OutgoingPacket.PAYLOAD_GONE) {
            return false;
        }
        icrc.seal(path, sourcePort, taking == null ? 0 : taking.packets, bytes, usedBytes, length);
        if (taking != null) {
            taking.append(length);
        } else {
            messages[messageCount++].begin(path, process, length, !isManagement);
        }
        usedBytes += length;
        return true;
    }

    /** Adds bytes that were sealed, or damaged, elsewhere, for Identification 0. */
    void add(ByteBuffer datagram, Path path) {
        int length = datagram.remaining();
        bytes.clear().position(usedBytes);
        bytes.put(datagram);
        messages[messageCount++].begin(path, 0, length, false);
        usedBytes += length;
    }

    /** {@return whether it has to be sent before more is added} */
    boolean isFull() {
        return usedBytes > MAX_MESSAGE_BYTES - PacketSealer.LONGEST
                || messageCount >= MAX_MESSAGES;
    }

    /** Sends the packets if there is no room for more. {@return false if they are kept} */
    boolean makeRoom() {
        return !isFull() || flush();
    }

    /** Sends the packets. {@return false if the socket is full; the rest is kept} */
    boolean flush() {
        while (sentMessages < messageCount) {
            Message next = messages[sentMessages];
            if (next.isSplit) {
                if (!next.sendSplit()) {
                    return false;
                }
                sentMessages++;
                continue;
            }
            int count = addressFrom(sentMessages);
            long sent = count == 1
                    ? Math.min(1, outlet.send(next.header))
                    : outlet.send(next.header, count);
            if (sent == -LinuxCalls.EAGAIN) {
                return false;
            }
            if (sent > 0) {
                sentMessages += (int) sent;
            } else if (triedAgain != sentMessages && reports.take(outlet, this::onOldReport) > 0) {
                // The call has reported the fate of an earlier message, and has not sent this one.
                triedAgain = sentMessages;
            } else if (next.packets > 1 && mayBeSegmentation((int) -sent)) {
                next.split((int) -sent);
            } else {
                // No route, packet too long for the interface, a firewall: as if lost on the wire.
                refused += next.packets;
                onRefused(next.path.destination(), (int) -sent);
                sentMessages++;
            }
        }
        clear();
        return true;
    }

    /** {@return how many messages can leave together} */
    private int addressFrom(int first) {
        int end = first;
        while (end < messageCount && !messages[end].isSplit) {
            messages[end++].address();
        }
        return end - first;
    }

    /** The card, a tunnel or the interface's MTU may prevent segmentation; single packets may still pass. */
    private static boolean mayBeSegmentation(int errno) {
        return errno == LinuxCalls.EIO || errno == LinuxCalls.EINVAL
                || errno == LinuxCalls.ENOPROTOOPT || errno == LinuxCalls.EMSGSIZE
                || errno == LinuxCalls.EOPNOTSUPP;
    }

    /** {@return how many packets have not left} */
    int waiting() {
        int packets = 0;
        for (int i = sentMessages; i < messageCount; i++) {
            packets += messages[i].packets;
        }
        return packets;
    }

    private void onRefused(Gid destination, int errno) {
        if (refusals.size() < MAX_REFUSALS) {
            refusals.put(destination, KnownErrno.of(errno));
        }
    }

    /** Of a message before those that are being sent: so it says nothing of them. */
    private void onOldReport(Gid destination, Errno why) {}

    /** As {@link PacketPort#takeRefused}. */
    int takeRefused(SendFailures failures) {
        int count = refused;
        refused = 0;
        if (!refusals.isEmpty()) {
            Map<Gid, Errno> told = Map.copyOf(refusals);
            refusals.clear();
            told.forEach(failures::onFailure);
        }
        return count;
    }

    /** As {@link PacketPort#takeReports}. */
    void takeReports(SendFailures failures) {
        reports.take(outlet, failures);
    }

    /** Drops all packets. */
    void clear() {
        usedBytes = 0;
        messageCount = 0;
        sentMessages = 0;
        triedAgain = -1;
    }

    /** Drops the kept packets and closes the outlet. */
    void close() {
        clear();
        outlet.close();
    }
}
