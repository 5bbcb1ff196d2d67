// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What every network does on real sockets. */
public abstract class NetworkContract {
    /** Addresses that no other process takes. */
    private static final String NETWORK = "127." + (100 + ProcessHandle.current().pid() % 100) + "."
            + ProcessHandle.current().pid() / 100 % 256 + ".";
    protected static final InetAddress FIRST = InetAddress.ofLiteral(NETWORK + 1);
    private static final InetAddress SECOND = InetAddress.ofLiteral(NETWORK + 2);
    private static final InetAddress THIRD = InetAddress.ofLiteral(NETWORK + 3);
    private static final Gid GROUP = Gid
            .of(InetAddress.ofLiteral("239" + NETWORK.substring(3) + 1));
    private static final long LONG_NS = 60_000_000_000L;
    private static final long LOST_AFTER_NS = 1_000_000_000L;
    private static final int PAYLOAD = 300;

    private final List<DatagramNetwork> networks = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final Arrived arrived = new Arrived();

    /** {@return a new network of the kind that is tested} */
    protected abstract DatagramNetwork newNetwork(NetworkInterface networkInterface)
            throws RdmaException;

    /** What came up from a port. */
    private static final class Arrived implements PacketHandler {
        final List<byte[]> datagrams = new ArrayList<>();
        final List<Gid> sources = new ArrayList<>();
        final List<Gid> destinations = new ArrayList<>();
        final List<Integer> identifications = new ArrayList<>();
        int damaged;
        boolean isFromAnyPort;
        boolean isThrowing;

        @Override
        public void onDatagram(ReceivedDatagram datagram) {
            datagrams.add(datagram.memory().asSlice(datagram.offset(), datagram.length())
                    .toArray(ValueLayout.JAVA_BYTE));
            sources.add(datagram.source());
            destinations.add(datagram.local());
            identifications.add(datagram.identification());
            if (!isFromAnyPort) {
                assertThat(datagram.sourcePort()).matches(
                        port -> port == Path.UDP_PORT || (port >= 0xc000 && port <= 0xffff),
                        "is a port that RoCEv2 packets leave from");
            }
            if (isThrowing) {
                throw new AssertionError("a defect");
            }
        }

        @Override
        public void onDamaged(Gid source, int length) {
            damaged++;
        }

        int count() {
            return datagrams.size() + damaged;
        }
    }

    @BeforeEach
    void requireNetwork() throws Exception {
        network();
    }

    @AfterEach
    void close() {
        networks.forEach(DatagramNetwork::close);
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /** {@return a new network, closed at the end of the test} */
    protected final DatagramNetwork network() throws Exception {
        return closedAtEnd(newNetwork(loopback()));
    }

    /** {@return a network, closed at the end of the test} */
    protected final DatagramNetwork closedAtEnd(DatagramNetwork network) {
        networks.add(network);
        return network;
    }

    /** {@return the interface that networks are tested on} */
    protected static NetworkInterface loopback() throws Exception {
        return NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
    }

    /** Sends packets together from one network to another. */
    protected final void burstArrives(DatagramNetwork sender, DatagramNetwork receiver)
            throws Exception {
        PacketPort from = sender.open(FIRST);
        PacketPort to = receiver.open(SECOND);
        for (int i = 0; i < 20; i++) {
            assertThat(from.send(packet(path(from, to), i, i == 19 ? 8 : 1024)))
                    .isEqualTo(PacketPort.Sent.SENT);
        }
        assertThat(from.flush()).isTrue();
        await(receiver, to, 20);
        assertThat(psns()).isEqualTo(IntStream.range(0, 20).boxed().toList());
        assertThat(arrived.damaged).isZero();
    }

    private OutgoingPacket packet(Path path, int psn, int payload) {
        return packet(path, 17, psn, payload);
    }

    private OutgoingPacket packet(Path path, int queuePair, int psn, int payload) {
        MemorySegment memory = arena.allocate(Math.max(1, payload));
        for (int i = 0; i < payload; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (psn + i));
        }
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, path, queuePair, psn, false, false);
        packet.addPayload(memory, 0, payload);
        return packet;
    }

    private static Path path(PacketPort from, PacketPort to) {
        return Path.between(from.local(), to.local());
    }

    /** Receives until so many have arrived. */
    private void await(DatagramNetwork network, PacketPort port, int count) {
        Wait.until(count + " datagrams have arrived", () -> arrived.count() >= count, () -> {
            if (port.receive(arrived, 64) == 0) {
                network.await(LONG_NS);
            }
        });
    }

    private List<Integer> psns() {
        return arrived.datagrams.stream().map(bytes -> ByteBuffer.wrap(bytes).getInt(8)).toList();
    }

    private static void send(PacketPort port, OutgoingPacket packet) {
        assertThat(port.send(packet)).isEqualTo(PacketPort.Sent.SENT);
        assertThat(port.flush()).isTrue();
    }

    @Test
    void packetArrivesAsItWasSent() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        OutgoingPacket packet = packet(path(from, to), 5, PAYLOAD + 1);
        send(from, packet);
        await(network, to, 1);
        assertThat(arrived.sources).containsExactly(Gid.of(FIRST));
        assertThat(arrived.destinations).containsExactly(Gid.of(SECOND));
        // What another Identification explains would be damaged for a peer that sees the field.
        assertThat(arrived.identifications).containsExactly(0);
        MemorySegment copy = Arena.ofAuto().allocate(packet.totalLength());
        packet.copyTo(copy, 0);
        assertThat(arrived.datagrams.getFirst()).hasSize(packet.totalLength())
                .startsWith(copy.asSlice(0, copy.byteSize() - PacketView.ICRC_LENGTH)
                        .toArray(ValueLayout.JAVA_BYTE));
        assertThat(from.receive(arrived, 64)).isZero();
    }

    @Test
    void packetsArriveOverIpv6() throws Exception {
        InetAddress address = InetAddress.ofLiteral("::1");
        assumeThat(NetworkInterface.getByInetAddress(address)).isNotNull();
        DatagramNetwork network = network();
        PacketPort port = openOnceFree(network, address);
        int queuePair = ownQueuePair(network, 17);
        int rounds = sendUntil("four packets have arrived one after the other", network, port,
                arrived,
                () -> Collections.indexOfSubList(psns(), List.of(0, 1, 2, 3)) >= 0, () -> {
                    for (int i = 0; i < 4; i++) {
                        port.send(packet(path(port, port), queuePair, i, PAYLOAD));
                    }
                    assertThat(port.flush()).isTrue();
                });
        assertThat(arrived.count()).isLessThanOrEqualTo(4 * rounds);
        assertThat(arrived.damaged).isZero();
        assertThat(arrived.sources).containsOnly(Gid.of(address));
        assertThat(arrived.identifications).containsOnly(0);
    }

    /** {@return a number of this process: at an address that it shares, packets for others go to others} */
    protected static int ownQueuePair(DatagramNetwork network, int number) {
        return network.sharing().prefix() << PortSharing.QUEUE_PAIR_BITS | number;
    }

    /**
     * Sends to an address that is shared, and again if nothing arrives for a while: another process that closes its socket
     * there may take packets with it.
     *
     * @return how often it has sent
     */
    protected static int sendUntil(String what, DatagramNetwork network, PacketPort port,
            PacketHandler handler, Wait.Condition<RuntimeException> hasArrived,
            Wait.Step<RuntimeException> sending) {
        int[] rounds = new int[1];
        Wait.until(what, hasArrived, () -> {
            rounds[0]++;
            sending.run();
            long sinceNs = System.nanoTime();
            while (!hasArrived.holds() && System.nanoTime() - sinceNs < LOST_AFTER_NS) {
                if (port.receive(handler, 64) == 0) {
                    network.await(LOST_AFTER_NS);
                }
            }
        });
        return rounds[0];
    }

    /** {@return a port of the only IPv6 address of loopback, which another process may have for a while} */
    protected static PacketPort openOnceFree(DatagramNetwork network, InetAddress address)
            throws RdmaException {
        List<PacketPort> opened = new ArrayList<>();
        OnceFree.take(address.getHostAddress(), () -> {
            try {
                opened.add(network.open(address));
                return true;
            } catch (RdmaException taken) {
                assertThat(taken.errno()).isEqualTo(Errno.EADDRINUSE);
                return false;
            }
        });
        return opened.getFirst();
    }

    @Test
    void packetsOfAnyLengthArriveInOrder() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        int[] payloads = {0, 4096, 4096, 4096, 100, 1, 1024, 1024, 3, 0, 4096};
        for (int i = 0; i < payloads.length; i++) {
            send(from, packet(path(from, to), i, payloads[i]));
        }
        await(network, to, payloads.length);
        for (int i = 0; i < payloads.length; i++) {
            assertThat(psns().get(i)).isEqualTo(i);
            assertThat(arrived.datagrams.get(i))
                    .hasSize(Opcode.BTH_LENGTH + (payloads[i] + 3 & -4) + PacketView.ICRC_LENGTH);
        }
        assertThat(arrived.damaged).isZero();
    }

    @Test
    void whatIsFlushedTogetherArrivesInOrder() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        PacketPort other = network.open(THIRD);
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            boolean isForOther = i % 97 == 96;
            PacketPort target = isForOther ? other : to;
            int payload = i % 31 == 30 ? 4 * (i % 7) : 256;
            OutgoingPacket packet = packet(path(from, target), i, payload);
            assertThat(from.send(packet)).isEqualTo(PacketPort.Sent.SENT);
            if (!isForOther) {
                expected.add(i);
            }
        }
        assertThat(from.flush()).isTrue();
        assertThat(from.takeRefused((destination, why) -> {})).isZero();
        await(network, to, expected.size());
        assertThat(psns()).isEqualTo(expected);
        await(network, other, 300);
        assertThat(arrived.damaged).isZero();
    }

    @Test
    void payloadMayChangeAsSoonAsItsPacketIsTaken() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        for (int i = 0; i < 5; i++) {
            OutgoingPacket packet = packet(path(from, to), 1, PAYLOAD);
            from.send(packet);
            packet.piece(0).fill((byte) -1);
        }
        assertThat(from.flush()).isTrue();
        await(network, to, 5);
        assertThat(arrived.damaged).isZero();
        assertThat(arrived.datagrams).allSatisfy(
                bytes -> assertThat(bytes[Opcode.BTH_LENGTH]).isEqualTo((byte) 1));
    }

    @Test
    void bytesGoAsTheyAreAndDamageIsNoticed() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        ByteBuffer datagram = Objects.requireNonNull(
                new PacketSealer(arena).seal(packet(path(from, to), 5, PAYLOAD)));
        assertThat(from.send(datagram, path(from, to))).isEqualTo(PacketPort.Sent.SENT);
        assertThat(from.flush()).isTrue();
        datagram.put(20, (byte) ~datagram.get(20)).put(21, (byte) ~datagram.get(21));
        assertThat(from.send(datagram.rewind(), path(from, to))).isEqualTo(PacketPort.Sent.SENT);
        assertThat(from.flush()).isTrue();
        try (DatagramSocket stranger = new DatagramSocket(0, FIRST)) {
            stranger.send(new DatagramPacket(new byte[0], 0, SECOND, Path.UDP_PORT));
            stranger.send(new DatagramPacket(new byte[15], 15, SECOND, Path.UDP_PORT));
        }
        send(from, packet(path(from, to), 6, 0));
        await(network, to, 5);
        assertThat(psns()).containsExactly(5, 6);
        assertThat(arrived.damaged).isEqualTo(3);
    }

    @Test
    void everyPathIsTaken() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        int[] classes = {0, 0x20, 0x20, 0, 0xff};
        int[] hops = {64, 64, 1, 0, 255};
        for (int i = 0; i < classes.length; i++) {
            send(from, packet(new Path(from.local(), to.local(), classes[i], 0, hops[i]), i,
                    PAYLOAD));
        }
        await(network, to, classes.length);
        assertThat(psns()).containsExactly(0, 1, 2, 3, 4);
    }

    /** Those that were received together with it are lost, as on a wire. */
    @Test
    void aDatagramWhoseHandlerThrowsIsNotReceivedAgain() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        arrived.isThrowing = true;
        send(from, packet(path(from, to), 1, PAYLOAD));
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> await(network, to, 2))
                .withMessage("a defect");
        arrived.isThrowing = false;
        send(from, packet(path(from, to), 2, PAYLOAD));
        await(network, to, 2);
        assertThat(psns()).containsExactly(1, 2);
    }

    @Test
    void budgetBoundsWhatIsReceivedAtOnce() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        for (int i = 0; i < 8; i++) {
            // Of different lengths, so that nothing is put together.
            send(from, packet(path(from, to), i, 8 + 8 * (i & 1)));
        }
        network.await(LONG_NS);
        assertThat(to.receive(arrived, 1)).isPositive().isLessThan(8);
        await(network, to, 8);
        assertThat(to.receive(arrived, 1)).isZero();
    }

    /** {@return whether the system reports of packets that were sent without asking} */
    protected boolean hasReports() {
        return false;
    }

    @Test
    void whatTheSystemReportsOfSentPacketsIsFoundAndCostsNoOther() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        Gid nobody = Gid.of(InetAddress.ofLiteral("127.45.67.99"));
        List<String> reports = new ArrayList<>();
        SendFailures told = (destination, why) -> reports.add(destination + " " + why);
        for (int round = 0; round < 2; round++) {
            // To one queue pair, so from one socket.
            send(from, packet(Path.between(from.local(), nobody), 4, PAYLOAD));
            send(from, packet(path(from, to), 5, PAYLOAD));
        }
        await(network, to, 2);
        assertThat(psns()).containsExactly(5, 5);
        send(from, packet(Path.between(from.local(), nobody), 4, PAYLOAD));
        assertThat(from.takeRefused(told)).isZero();
        assertThat(reports).isEmpty();
        from.takeReports(told);
        assertThat(reports).hasSize(hasReports() ? 3 : 0)
                .allMatch((nobody + " ECONNREFUSED")::equals);
        reports.clear();
        from.takeReports(told);
        assertThat(reports).isEmpty();
    }

    @Test
    void whoAsksIsToldThatNobodyHasThePort() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        OutgoingPacket packet = packet(Path.between(from.local(), Gid.of(SECOND)), 5, PAYLOAD);
        assertThat(from.sendAsking(packet)).isEqualTo(PacketPort.Sent.UNREACHABLE);
        // That says nothing of others, nor of what comes then.
        PacketPort to = network.open(SECOND);
        send(from, packet);
        await(network, to, 1);
        assertThat(psns()).containsExactly(5);
    }

    @Test
    void whatWasSentAskingArrives() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        arrived.isFromAnyPort = true;
        assertThat(from.sendAsking(packet(path(from, to), 5, PAYLOAD)))
                .isEqualTo(PacketPort.Sent.SENT);
        await(network, to, 1);
        assertThat(psns()).containsExactly(5);
        assertThat(arrived.sources).containsExactly(Gid.of(FIRST));
        assertThat(arrived.damaged).isZero();
    }

    @Test
    void whoIsThereButTakesNothingIsNotTakenForNobody() throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        OutgoingPacket packet = packet(path(from, to), 5, 4096);
        // More than its buffer holds.
        for (int i = 0; i < 10_000; i++) {
            from.send(packet);
            from.flush();
        }
        assertThat(from.sendAsking(packet)).isEqualTo(PacketPort.Sent.SENT);
    }

    @Test
    void otherIpVersionIsRefused() throws Exception {
        PacketPort from = network().open(FIRST);
        Gid other = Gid.of(InetAddress.ofLiteral("::1"));
        assertThat(from.send(packet(Path.between(from.local(), other), 5, PAYLOAD)))
                .isEqualTo(PacketPort.Sent.REFUSED);
    }

    @Test
    void payloadOfAClosedArenaIsSaidToBeGone() throws Exception {
        PacketPort from = network().open(FIRST);
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, path(from, from), 17, 1, false, false);
        packet.addPayload(arena.allocate(PAYLOAD), 0, PAYLOAD);
        arena.close();
        assertThat(from.send(packet)).isEqualTo(PacketPort.Sent.PAYLOAD_GONE);
    }

    @Test
    void payloadOfAFileThatWasCutShortIsSaidToBeGoneAndHarmsNothingElse(
            @TempDir java.nio.file.Path directory) throws Exception {
        DatagramNetwork network = network();
        PacketPort from = network.open(FIRST);
        PacketPort to = network.open(SECOND);
        try (FileChannel file = FileChannel.open(directory.resolve("cut"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16, arena);
            file.truncate(0);
            OutgoingPacket packet = new OutgoingPacket()
                    .begin(Opcode.RC_SEND_ONLY, path(from, to), 17, 1, false, false);
            packet.addPayload(mapped, 4096, 4096);
            from.send(packet(path(from, to), 2, PAYLOAD));
            assertThat(from.send(packet)).isEqualTo(PacketPort.Sent.PAYLOAD_GONE);
            send(from, packet(path(from, to), 3, PAYLOAD));
        }
        await(network, to, 2);
        assertThat(psns()).containsExactly(2, 3);
    }

    @Test
    void addressBelongsToOneNetwork() throws Exception {
        DatagramNetwork owner = network();
        owner.open(FIRST);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> network().open(FIRST))
                .withMessageContaining(FIRST.getHostAddress()).withMessageContaining("taken")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        owner.close();
        network().open(FIRST);
    }

    @Test
    void foreignAddressIsRefused() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> network().open(InetAddress.ofLiteral("192.0.2.77")))
                .withMessageContaining("192.0.2.77 is not an address of this machine")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
    }

    @Test
    void groupIsSharedAndLeft() throws Exception {
        DatagramNetwork one = network();
        DatagramNetwork other = network();
        PacketPort from = one.open(FIRST);
        PacketPort here = one.join(GROUP);
        PacketPort there = other.join(GROUP);
        Path path = new Path(from.local(), GROUP, 0, 0, 7);
        send(from, packet(path, 5, PAYLOAD));
        await(one, here, 1);
        await(other, there, 2);
        assertThat(arrived.destinations).containsExactly(GROUP, GROUP);
        assertThat(arrived.sources).containsExactly(from.local(), from.local());
        other.leave(GROUP);
        assertThat(other.port(GROUP)).isNull();
        send(from, packet(path, 6, PAYLOAD));
        await(one, here, 3);
        assertThat(psns()).containsExactly(5, 5, 6);
    }

    @Test
    void groupIsNotHeardOnAnotherInterface() throws Exception {
        Optional<NetworkInterface> other = NetworkInterface.networkInterfaces()
                .filter(NetworkContract::canJoin).findFirst();
        assumeThat(other).isPresent();
        DatagramNetwork here = network();
        PacketPort from = here.open(FIRST);
        PacketPort wanted = here.join(GROUP);
        PacketPort foreign = closedAtEnd(newNetwork(other.get())).join(GROUP);
        send(from, packet(new Path(from.local(), GROUP, 0, 0, 7), 5, PAYLOAD));
        await(here, wanted, 1);
        assertThat(foreign.receive(arrived, 64)).isZero();
    }

    private static boolean canJoin(NetworkInterface candidate) {
        try {
            return candidate.isUp() && !candidate.isLoopback() && candidate.supportsMulticast()
                    && candidate.inetAddresses().anyMatch(Inet4Address.class::isInstance);
        } catch (SocketException gone) {
            return false;
        }
    }

    /** Such a group means nothing without the interface. */
    @ParameterizedTest
    @ValueSource(strings = {"ff01::7704", "ff02::7704", "ff05::7704"})
    void groupOfIpv6IsJoinedWhateverItsScope(String address) throws Exception {
        Gid group = Gid.of(InetAddress.ofLiteral(address));
        Optional<NetworkInterface> other = NetworkInterface.networkInterfaces()
                .filter(NetworkContract::canJoin).findFirst();
        assumeThat(other).isPresent();
        DatagramNetwork network = closedAtEnd(newNetwork(other.get()));
        assertThat(network.join(group).local()).isEqualTo(group);
        network.leave(group);
        assertThat(network.port(group)).isNull();
    }

    @Test
    void groupOfIpv6IsRefusedOnTheLoopbackInterfaceOfLinux() throws Exception {
        assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
        DatagramNetwork network = network();
        Gid group = Gid.of(InetAddress.ofLiteral("ff05::7704"));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> network.join(group))
                .withMessageContaining("delivers no IPv6 multicast")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
        assertThat(network.port(group)).isNull();
    }

    @Test
    void closedPortCarriesNothing() throws Exception {
        DatagramNetwork network = network();
        PacketPort port = network.open(FIRST);
        OutgoingPacket packet = packet(path(port, port), 5, PAYLOAD);
        network.leave(port.local());
        assertThat(port.send(packet)).isEqualTo(PacketPort.Sent.REFUSED);
        assertThat(port.flush()).isTrue();
        assertThat(port.receive(arrived, 64)).isZero();
    }

    @Test
    void closedNetworkCanBeWokenAndClosedAgain() throws Exception {
        DatagramNetwork network = network();
        network.close();
        network.wake();
        network.close();
        assertThat(network.ports()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1_000_000, LONG_NS, Long.MAX_VALUE})
    void wakingEndsTheNextWaitAndOnlyThat(long timeoutNs) throws Exception {
        DatagramNetwork network = network();
        network.open(FIRST);
        network.wake();
        network.wake();
        network.await(timeoutNs);
        long startNs = System.nanoTime();
        network.await(20_000_000);
        if (timeoutNs == Long.MAX_VALUE) {
            assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(19_000_000);
        }
    }

    @Test
    void waitUnderWayEndsByWaking() throws Exception {
        DatagramNetwork network = network();
        CountDownLatch ended = new CountDownLatch(1);
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            network.await(Long.MAX_VALUE);
            ended.countDown();
        });
        Wait.until("the waiter runs", () -> waiter.getState() != Thread.State.NEW);
        network.wake();
        ended.await();
    }

    @Test
    void waitUnderWayEndsWhenAPortThatWasOpenedMeanwhileReceives() throws Exception {
        DatagramNetwork network = network();
        CountDownLatch ended = new CountDownLatch(1);
        Thread.ofPlatform().daemon().start(() -> {
            PacketPort port = null;
            while (port == null || port.receive(arrived, 64) == 0) {
                network.await(Long.MAX_VALUE);
                port = network.port(Gid.of(FIRST));
            }
            ended.countDown();
        });
        PacketPort port = network.open(FIRST);
        send(port, packet(path(port, port), 5, PAYLOAD));
        ended.await();
        assertThat(psns()).containsExactly(5);
    }
}
