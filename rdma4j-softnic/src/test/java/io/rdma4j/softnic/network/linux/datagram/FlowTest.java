// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PacketSealer;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.softnic.network.linux.calls.ControlMessage;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.Outlet;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.SocketOption;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_UDP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_PKTINFO;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TOS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.UDP_SEGMENT;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** How packets become messages, and what becomes of those that the system does not take. */
class FlowTest {
    private static final Gid HERE = Gid.of(InetAddress.ofLiteral("192.0.2.1"));
    private static final Gid THERE = Gid.of(InetAddress.ofLiteral("192.0.2.2"));
    private static final Gid ELSEWHERE = Gid.of(InetAddress.ofLiteral("192.0.2.3"));
    private static final Path PATH = Path.between(HERE, THERE);

    private final Arena arena = Arena.ofAuto();
    private final Network network = new Network();
    /** The interfaces that packets to some destinations have to name. */
    private final Map<Gid, Integer> named = new HashMap<>();
    private final Flow flow = new Flow(network, Path.UDP_PORT, 1,
            new Ways(destination -> named.getOrDefault(destination, 0)), arena);
    private int psn;

    @BeforeEach
    void requireLinux() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
    }

    /** A message that was taken: where it goes, how it is cut and the PSNs in it. */
    private record Taken(Gid destination, int segmentLength, int typeOfService,
            List<Integer> psns, List<Integer> identifications) {}

    private static final int BY_THIS_CALL = 1;
    private static final int BY_ICMP = 2;

    private final List<String> failures = new ArrayList<>();
    private final SendFailures told = (destination, why) -> failures.add(destination + " " + why);

    private record Report(Gid destination, int errno, int origin) {}

    /** Takes messages and returns as instructed: how many it takes, or an error; without an instruction all. */
    private static final class Network implements Outlet {
        final List<Taken> taken = new ArrayList<>();
        final Deque<Integer> answers = new ArrayDeque<>();
        /** The interface and the source address of each message. */
        final List<List<Integer>> interfaces = new ArrayList<>();
        int calls;
        /** What the system reports of earlier messages: destinations, and who has reported it. */
        final Deque<Report> reports = new ArrayDeque<>();
        private final Icrc icrc = new Icrc();

        @Override
        public void close() {
            throw new IllegalStateException("nobody asked for that");
        }

        @Override
        public long send(MemorySegment message) {
            calls++;
            int answer = answers.isEmpty() ? 1 : answers.remove();
            return answer < 0 ? answer : take(message);
        }

        @Override
        public int send(MemorySegment messages, int count) {
            calls++;
            int answer = answers.isEmpty() ? count : answers.remove();
            for (int i = 0; i < answer; i++) {
                take(messages.asSlice(i * 64L));
            }
            return answer;
        }

        @Override
        public long receiveReport(MemorySegment report) {
            Report next = reports.poll();
            if (next == null) {
                return -LinuxCalls.EAGAIN;
            }
            SocketAddress.write(report.get(ADDRESS, 0).reinterpret(28), next.destination, 4791, 0);
            // struct cmsghdr and sock_extended_err: number, origin.
            MemorySegment control = report.get(ADDRESS, 32).reinterpret(64);
            ControlMessage.write(control, 0, SocketOption.IPPROTO_IP, SocketOption.IP_RECVERR,
                    next.errno);
            control.set(ValueLayout.JAVA_BYTE, 20, (byte) next.origin);
            report.set(ValueLayout.JAVA_LONG, 40, 32);
            return 0;
        }

        private long take(MemorySegment message) {
            MemorySegment name = message.get(ADDRESS, 0).reinterpret(28);
            MemorySegment iovec = message.get(ADDRESS, 16).reinterpret(16);
            long length = iovec.get(JAVA_LONG, 8);
            MemorySegment bytes = iovec.get(ADDRESS, 0).reinterpret(length);
            long controlLength = MessageHeader.controlLength(message);
            MemorySegment control = message.get(ADDRESS, 32).reinterpret(controlLength);
            int told = ControlMessage.find(control, controlLength, IPPROTO_UDP, UDP_SEGMENT);
            int segment = told < 0 ? (int) length : told & 0xffff;
            Gid destination = new Gid(SocketAddress.high(name), SocketAddress.low(name));
            List<Integer> psns = new ArrayList<>();
            List<Integer> identifications = new ArrayList<>();
            ByteBuffer view = bytes.asByteBuffer();
            for (int at = 0; at < length; at += segment) {
                psns.add(view.getInt(at + 8));
                identifications.add(icrc.identify(HERE, destination, Path.UDP_PORT, 0,
                        view.duplicate(), at, (int) Math.min(segment, length - at)));
            }
            interfaces.add(packetInfo(control, controlLength));
            taken.add(new Taken(destination, told,
                    ControlMessage.find(control, controlLength, IPPROTO_IP, IP_TOS), psns,
                    identifications));
            return length;
        }

        /** {@return the interface and the source address that a message names, none if it names none} */
        private static List<Integer> packetInfo(MemorySegment control, long controlLength) {
            for (long at = 0; at < controlLength; at += ControlMessage.SPACE) {
                if (control.get(JAVA_INT, at + 8) == IPPROTO_IP
                        && control.get(JAVA_INT, at + 12) == IP_PKTINFO) {
                    return List.of(control.get(JAVA_INT, at + 16),
                            Integer.reverseBytes(control.get(JAVA_INT, at + 20)));
                }
            }
            return List.of();
        }

        List<List<Integer>> psns() {
            return taken.stream().map(Taken::psns).toList();
        }
    }

    private void add(Path path, int payload) {
        add(path, 17, payload);
    }

    private void add(Path path, int queuePair, int payload) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, path, queuePair, psn++, false, false);
        packet.addPayload(arena.allocate(payload).fill((byte) psn), 0, payload);
        flow.add(packet);
    }

    private void add(int... payloads) {
        for (int payload : payloads) {
            add(PATH, payload);
        }
    }

    @Test
    void messageNamesItsInterfaceWhereTheSystemWouldChooseAnother() {
        named.put(THERE, 7);
        add(new Path(HERE, THERE, 0x60, 0, 9), 1024);
        add(PATH, 1024);
        add(PATH, 1024);
        add(Path.between(HERE, ELSEWHERE), 1024);
        assertThat(flow.flush()).isTrue();
        List<Integer> byInterface = List.of(7, (int) HERE.low());
        assertThat(network.interfaces).containsExactly(byInterface, byInterface, List.of());
        assertThat(network.taken).extracting(Taken::typeOfService).containsExactly(0x60, -1, -1);
        assertThat(network.psns()).containsExactly(List.of(0), List.of(1, 2), List.of(3));
    }

    @Test
    void packetsOfOneLengthAreOneMessageAndTheLastMayBeShorter() {
        add(1024, 1024, 1024, 100);
        assertThat(flow.flush()).isTrue();
        assertThat(network.taken).containsExactly(new Taken(THERE, Opcode.BTH_LENGTH + 1024 + 4, -1,
                List.of(0, 1, 2, 3), List.of(0, 1, 2, 3)));
    }

    @Test
    void aShorterOrLongerPacketEndsAMessage() {
        add(1024, 100, 1024, 1024, 2048, 4);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1), List.of(2, 3), List.of(4, 5));
        assertThat(network.calls).isEqualTo(1);
    }

    /** The first packet of a message decides which of the processes that share a port gets it all. */
    @Test
    void packetsForOneProcessAreOneMessage() {
        for (int queuePair : new int[]{0x02_0017, 0x02_ffff, 0x03_0017, 0x03_0018, 0x02_0017}) {
            add(PATH, queuePair, 1024);
        }
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1), List.of(2, 3), List.of(4));
    }

    /** What is in a management datagram decides who gets it. */
    @Test
    void managementDatagramsLeaveOneByOne() {
        for (int queuePair : new int[]{1, 1, 17, 17, 1}) {
            add(PATH, queuePair, 256);
        }
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0), List.of(1), List.of(2, 3),
                List.of(4));
    }

    @Test
    void aSinglePacketIsNotCut() {
        add(1024);
        assertThat(flow.flush()).isTrue();
        assertThat(network.taken)
                .containsExactly(new Taken(THERE, -1, -1, List.of(0), List.of(0)));
    }

    @Test
    void everyPathHasMessagesOfItsOwn() {
        add(PATH, 64);
        add(Path.between(HERE, ELSEWHERE), 64);
        add(PATH.withTrafficClass(0x20), 64);
        add(PATH.withTrafficClass(0x20), 64);
        add(new Path(HERE, THERE, 0x20, 0, 3), 64);
        // Another queue pair with the same path.
        add(new Path(HERE, THERE, 0x20, 99, 3), 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0), List.of(1), List.of(2, 3),
                List.of(4, 5));
        assertThat(network.taken.stream().map(Taken::typeOfService)).containsExactly(-1, -1, 0x20,
                0x20);
    }

    @Test
    void aMessageHasAtMostSixtyFourPackets() {
        for (int i = 0; i < 100; i++) {
            add(16);
        }
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).extracting(List::size).containsExactly(64, 36);
    }

    @Test
    void aFlowIsFullBeforeItsBytesFillADatagram() {
        while (!flow.isFull()) {
            add(4096);
        }
        assertThat(psn).isEqualTo(15);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).hasSize(1);
        assertThat(flow.isFull()).isFalse();
        while (!flow.isFull()) {
            add(Path.between(HERE, (psn & 1) == 0 ? THERE : ELSEWHERE), 16);
        }
        assertThat(flow.flush()).isTrue();
        assertThat(network.calls).isEqualTo(2);
    }

    @Test
    void packetsOfOneMessageAreCutAndTheLastAsksForAnAcknowledgement() {
        add(256);
        flow.add(middle(4, 256, arena));
        add(100);
        assertThat(flow.flush()).isTrue();
        assertThat(network.taken).containsExactly(new Taken(THERE, Opcode.BTH_LENGTH + 256 + 4, -1,
                List.of(0, 1, 2, 3, 4 | 1 << 31, 5), List.of(0, 1, 2, 3, 4, 5)));
    }

    @Test
    void numbersOfPacketsGoOnBehindTheLargest() {
        psn = 0xfffffe;
        flow.add(middle(4, 256, arena));
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0xfffffe, 0xffffff, 0, 1 | 1 << 31));
    }

    @Test
    void whatMustNotBeCutGoesOneByOneHoweverMuchIsAddedAtOnce() {
        add(64, 64);
        network.answers.add(-LinuxCalls.EIO);
        assertThat(flow.flush()).isTrue();
        network.taken.clear();
        while (!flow.isFull()) {
            flow.add(middle(Flow.PACKETS_AT_ONCE, 1024, arena));
        }
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).hasSize(3 * Flow.PACKETS_AT_ONCE)
                .allSatisfy(each -> assertThat(each).hasSize(1));
        assertThat(flow.isFull()).isFalse();
    }

    @Test
    void whatIsAddedAtOnceMayBeTwoMessages() {
        add(4096, 4096);
        flow.add(middle(Flow.PACKETS_AT_ONCE, 4096, arena));
        assertThat(flow.isFull()).isTrue();
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).extracting(List::size).containsExactly(15, 2);
        assertThat(network.calls).isEqualTo(1);
        assertThat(network.taken).extracting(Taken::identifications)
                .allSatisfy(each -> assertThat(each).doesNotContain(-1));
    }

    @Test
    void ofPacketsWhoseMemoryIsGoneNoneIsAdded(@TempDir java.nio.file.Path folder)
            throws Exception {
        add(256);
        OutgoingPacket middle;
        try (Arena brief = Arena.ofConfined()) {
            middle = middle(4, 256, brief);
        }
        assertThat(flow.add(middle)).isFalse();
        psn = 1;
        // Of the third there is nothing.
        OutgoingPacket half = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE, PATH, 17, psn, true, false).span(4);
        try (FileChannel file = FileChannel.open(folder.resolve("cut"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            half.addPayload(file.map(FileChannel.MapMode.READ_WRITE, 0, 16384, arena), 0, 16384);
            file.truncate(8192);
        }
        assertThat(flow.add(half)).isFalse();
        add(256, 100);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1, 2));
    }

    private OutgoingPacket middle(int packets, int payload, Arena memory) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE, PATH, 17, psn, true, false).span(packets);
        psn += packets;
        packet.addPayload(memory.allocate((long) packets * payload), 0, packets * payload);
        return packet;
    }

    @Test
    void damagedBytesGoAloneAndAsTheyAre() {
        ByteBuffer sealed = Objects.requireNonNull(new PacketSealer(arena).seal(
                new OutgoingPacket()
                        .begin(Opcode.RC_SEND_ONLY, PATH, 17, 77, false, false)));
        add(4, 4);
        flow.add(sealed, PATH);
        flow.add(sealed.rewind(), PATH);
        add(4, 4);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1), List.of(77), List.of(77),
                List.of(2, 3));
        assertThat(network.taken).allSatisfy(
                each -> assertThat(each.identifications).doesNotContain(-1).startsWith(0));
    }

    @Test
    void whatFindsNoRoomIsKeptInOrder() {
        add(64, 64, 128, 256);
        network.answers.addAll(List.of(1, -LinuxCalls.EAGAIN));
        assertThat(flow.flush()).isFalse();
        assertThat(network.psns()).containsExactly(List.of(0, 1));
        network.answers.add(-LinuxCalls.EAGAIN);
        assertThat(flow.flush()).isFalse();
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1), List.of(2), List.of(3));
        assertThat(flow.takeRefused(told)).isZero();
        add(64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).endsWith(List.of(4));
    }

    @Test
    void whatWaitsIsCounted() {
        add(64, 64, 128, 256);
        assertThat(flow.waiting()).isEqualTo(4);
        network.answers.addAll(List.of(1, -LinuxCalls.EAGAIN));
        assertThat(flow.flush()).isFalse();
        assertThat(flow.waiting()).isEqualTo(2);
        flow.clear();
        assertThat(flow.waiting()).isZero();
        add(64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1), List.of(4));
    }

    @Test
    void whatCannotBeCutLeavesPacketByPacketFromThenOn() {
        add(64, 64, 8);
        network.answers.add(-LinuxCalls.EIO);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0), List.of(1), List.of(2));
        assertThat(network.taken).allSatisfy(each -> {
            assertThat(each.segmentLength).isEqualTo(-1);
            assertThat(each.identifications).containsExactly(0);
        });
        network.taken.clear();
        add(64, 64);
        add(Path.between(HERE, ELSEWHERE), 64);
        add(Path.between(HERE, ELSEWHERE), 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(3), List.of(4), List.of(5, 6));
        assertThat(flow.takeRefused(told)).isZero();
    }

    /** The interface's MTU may be raised again. */
    @Test
    void whatIsTooLongForTheInterfaceLeavesPacketByPacketThisTimeOnly() {
        add(64, 64);
        network.answers.add(-LinuxCalls.EMSGSIZE);
        assertThat(flow.flush()).isTrue();
        add(64, 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0), List.of(1), List.of(2, 3));
    }

    @Test
    void packetsOfADividedMessageAreKeptToo() {
        add(64, 64, 64);
        network.answers.addAll(List.of(-LinuxCalls.EINVAL, 1, -LinuxCalls.EAGAIN));
        assertThat(flow.flush()).isFalse();
        assertThat(network.psns()).containsExactly(List.of(0));
        network.answers.addAll(List.of(-1, 1));
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0), List.of(2));
        assertThat(flow.takeRefused(told)).isEqualTo(1);
    }

    @Test
    void refusedPacketsAreCountedAndTheOthersLeave() {
        add(PATH, 64);
        add(PATH, 64);
        add(Path.between(HERE, ELSEWHERE), 64);
        // EPERM: a firewall.
        network.answers.add(-1);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(2));
        assertThat(flow.takeRefused(told)).isEqualTo(2);
        assertThat(flow.takeRefused(told)).isZero();
    }

    @Test
    void whyPacketsAreRefusedIsTold() {
        add(PATH, 64);
        add(Path.between(HERE, ELSEWHERE), 64);
        network.answers.add(-Errno.EPERM.number());
        assertThat(flow.flush()).isTrue();
        flow.takeRefused(told);
        assertThat(failures).containsExactly(PATH.destination() + " EPERM");
        flow.takeRefused(told);
        assertThat(failures).hasSize(1);
    }

    @Test
    void reportOfAnEarlierMessageCostsNoPacket() {
        network.reports.add(new Report(ELSEWHERE, Errno.ECONNREFUSED.number(), BY_ICMP));
        network.reports.add(new Report(ELSEWHERE, Errno.EHOSTUNREACH.number(), BY_ICMP));
        network.answers.add(-Errno.ECONNREFUSED.number());
        add(64, 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.psns()).containsExactly(List.of(0, 1));
        assertThat(flow.takeRefused(told)).isZero();
        assertThat(failures).isEmpty();
    }

    @Test
    void errorOfTheMessageItselfIsNotTakenForAReport() {
        network.reports.add(new Report(PATH.destination(), LinuxCalls.EMSGSIZE, BY_THIS_CALL));
        network.answers.add(-Errno.ENETUNREACH.number());
        add(PATH, 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.calls).isOne();
        assertThat(flow.takeRefused(told)).isOne();
        assertThat(failures).containsExactly(PATH.destination() + " ENETUNREACH");
    }

    @Test
    void messageIsTriedOnceMoreAndNoMore() {
        network.reports.add(new Report(ELSEWHERE, Errno.ECONNREFUSED.number(), BY_ICMP));
        network.answers.addAll(
                List.of(-Errno.ECONNREFUSED.number(), -Errno.ENETUNREACH.number()));
        add(PATH, 64);
        assertThat(flow.flush()).isTrue();
        assertThat(network.calls).isEqualTo(2);
        flow.takeRefused(told);
        assertThat(failures).containsExactly(PATH.destination() + " ENETUNREACH");
    }

    @Test
    void reportsAreToldWhenTheyAreLookedFor() {
        network.reports.add(new Report(ELSEWHERE, Errno.EHOSTUNREACH.number(), BY_ICMP));
        flow.takeReports(told);
        assertThat(failures).containsExactly(ELSEWHERE + " EHOSTUNREACH");
    }
}
