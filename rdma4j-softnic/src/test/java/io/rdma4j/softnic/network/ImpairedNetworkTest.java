// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** What an impairment does to packets, in virtual time. */
class ImpairedNetworkTest {
    private static final int COUNT = 2000;

    /** A sender behind an impairment, a receiver that notes what arrives. */
    private static final class Line implements PacketHandler {
        final SimulatedNetwork network = new SimulatedNetwork(1);
        final DatagramNetwork impaired;
        final PacketPort port;
        final PacketPort receiver;
        final List<Long> arrived = new ArrayList<>();
        final List<Long> times = new ArrayList<>();
        int damaged;

        Line(Impairment impairment, String from, String to) throws RdmaException {
            impaired = new ImpairedNetwork(network.newNode(), impairment);
            port = impaired.open(InetAddress.ofLiteral(from));
            receiver = network.newNode().open(InetAddress.ofLiteral(to));
            impaired.pollDue(network.nowNs());
        }

        Line(Impairment impairment) throws RdmaException {
            this(impairment, "127.0.0.1", "127.0.0.2");
        }

        void send(long psn) {
            assertThat(port.send(packet(psn, port.local(), receiver.local())))
                    .isEqualTo(PacketPort.Sent.SENT);
        }

        /** Sends numbered packets, one every ten microseconds, and lets all arrive. */
        Line sendAll() {
            for (int i = 0; i < COUNT; i++) {
                runTo(network.nowNs() + 10_000);
                send(i);
            }
            runTo(network.nowNs() + 1_000_000_000);
            return this;
        }

        void runTo(long timeNs) {
            while (network.nowNs() < timeNs) {
                long next = Math.min(impaired.nextDueNs(), network.nextArrivalNs());
                network.advanceTo(Math.min(timeNs, Math.max(next, network.nowNs() + 1)));
                assertThat(impaired.pollDue(network.nowNs())).isTrue();
                receiver.receive(this, Integer.MAX_VALUE);
            }
        }

        @Override
        public void onDatagram(ReceivedDatagram datagram) {
            PacketView view = new PacketView();
            assertThat(view.wrap(datagram.memory(), datagram.offset(), datagram.length())).isNull();
            arrived.add((long) view.psn());
            times.add(network.nowNs());
        }

        @Override
        public void onDamaged(Gid source, int length) {
            damaged++;
        }
    }

    private static OutgoingPacket packet(long psn, Gid from, Gid to) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, Path.between(from, to), 17, psn, false, false);
        packet.addPayload(MemorySegment.ofArray(new byte[100]), 0, 100);
        return packet;
    }

    private static List<Long> all() {
        return LongStream.range(0, COUNT).boxed().toList();
    }

    @Test
    void packetsPassWhenNothingIsImpaired() throws Exception {
        assertThat(new Line(Impairment.NONE).sendAll().arrived).isEqualTo(all());
    }

    @Test
    void lossTakesItsShare() throws Exception {
        Line line = new Line(Impairment.NONE.withLoss(0.1)).sendAll();
        assertThat(line.arrived).isSorted().doesNotHaveDuplicates();
        assertThat(COUNT - line.arrived.size()).isBetween(COUNT / 20, COUNT / 5);
        assertThat(line.damaged).isZero();
    }

    @Test
    void certainLossLetsNothingThrough() throws Exception {
        assertThat(new Line(Impairment.NONE.withLoss(1)).sendAll().arrived).isEmpty();
    }

    @Test
    void duplicatesFollowTheirOriginals() throws Exception {
        Line line = new Line(Impairment.NONE.withDuplication(0.1)).sendAll();
        assertThat(line.arrived).isSorted().containsAll(all());
        assertThat(line.arrived.size() - COUNT).isBetween(COUNT / 20, COUNT / 5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1 127.0.0.2", "fd00::1 fd00::2"})
    void eachDamagedPacketIsNoticedByItsIcrc(String addresses) throws Exception {
        String[] ends = addresses.split(" ", -1);
        Line line = new Line(Impairment.NONE.withCorruption(1), ends[0], ends[1]).sendAll();
        assertThat(line.arrived).isEmpty();
        assertThat(line.damaged).isEqualTo(COUNT);
    }

    @Test
    void damageHitsItsShareAlone() throws Exception {
        Line line = new Line(Impairment.NONE.withCorruption(0.1)).sendAll();
        assertThat(line.damaged).isBetween(COUNT / 20, COUNT / 5);
        assertThat(line.arrived.size()).isEqualTo(COUNT - line.damaged);
    }

    @Test
    void heldBackPacketsAreOvertakenAndArriveAllTheSame() throws Exception {
        Line line = new Line(Impairment.NONE.withReordering(0.1)).sendAll();
        assertThat(line.arrived).containsExactlyInAnyOrderElementsOf(all());
        assertThat(line.arrived).isNotEqualTo(all());
    }

    @Test
    void delayKeepsTheOrderAndIsExact() throws Exception {
        Line direct = new Line(Impairment.NONE).sendAll();
        Line late = new Line(Impairment.NONE.withDelay(Duration.ofMillis(2))).sendAll();
        assertThat(late.arrived).isEqualTo(all());
        for (int i = 0; i < COUNT; i++) {
            assertThat(late.times.get(i) - direct.times.get(i)).isEqualTo(2_000_000);
        }
    }

    @Test
    void jitterAddsUpToItsTimeAndKeepsTheOrder() throws Exception {
        Line direct = new Line(Impairment.NONE).sendAll();
        Line line = new Line(Impairment.parse("delay=1ms,jitter=3ms")).sendAll();
        assertThat(line.arrived).isEqualTo(all());
        List<Long> late = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            late.add(line.times.get(i) - direct.times.get(i));
        }
        assertThat(late).allSatisfy(ns -> assertThat(ns).isBetween(1_000_000L, 4_000_000L));
        assertThat(new HashSet<>(late)).hasSizeGreaterThan(10);
    }

    @Test
    void sameSeedImpairsTheSamePackets() throws Exception {
        Impairment bad = Impairment.parse(
                "loss=5%,duplicate=5%,corrupt=5%,reorder=5%,delay=1ms,jitter=1ms,seed=7");
        Line first = new Line(bad).sendAll();
        Line second = new Line(bad).sendAll();
        Line other = new Line(bad.withSeed(8)).sendAll();
        assertThat(second.arrived).isEqualTo(first.arrived);
        assertThat(second.times).isEqualTo(first.times);
        assertThat(other.arrived).isNotEqualTo(first.arrived);
    }

    @Test
    void moreLossLeavesTheOtherImpairmentsAsTheyWere() throws Exception {
        Impairment doubling = Impairment.NONE.withDuplication(0.1).withSeed(3);
        List<Long> more = new Line(doubling.withLoss(0.5)).sendAll().arrived;
        List<Long> all = new Line(doubling).sendAll().arrived;
        assertThat(all.stream().filter(more::contains).toList()).isEqualTo(more);
    }

    @Test
    void queueIsBoundedAndLosesWhatIsTooMuch() throws Exception {
        Line line = new Line(Impairment.NONE.withDelay(Duration.ofSeconds(1)));
        for (int i = 0; i < COUNT; i++) {
            line.send(i);
        }
        line.runTo(line.network.nowNs() + 2_000_000_000);
        assertThat(line.arrived).isEqualTo(all().subList(0, DelayedPackets.CAPACITY));
        line.send(5);
        line.runTo(line.network.nowNs() + 2_000_000_000);
        assertThat(line.arrived).hasSize(DelayedPackets.CAPACITY + 1);
    }

    @Test
    void nothingIsDueWhileNothingIsHeld() throws Exception {
        Line line = new Line(Impairment.NONE.withDelay(Duration.ofMillis(1)));
        assertThat(line.impaired.nextDueNs()).isEqualTo(Long.MAX_VALUE);
        line.send(1);
        assertThat(line.impaired.nextDueNs()).isEqualTo(line.network.nowNs() + 1_000_000);
        line.runTo(line.network.nowNs() + 1_000_000);
        assertThat(line.impaired.nextDueNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whatIsUnderWayArrivesAfterTheSenderHasClosed() throws Exception {
        Line line = new Line(Impairment.NONE.withDelay(Duration.ofSeconds(1)));
        line.send(1);
        line.impaired.close();
        line.network.advanceTo(line.network.nowNs() + 1_000_000);
        line.receiver.receive(line, 10);
        assertThat(line.arrived).containsExactly(1L);
    }

    // ---------------------------------------------------------------- a full network stack

    /** A network whose port takes one datagram and keeps the next until it is flushed. */
    private static final class NarrowNetwork implements DatagramNetwork, PacketPort {
        private static final Gid LOCAL = Gid.of(InetAddress.ofLiteral("127.0.0.1"));

        final List<Integer> sent = new ArrayList<>();
        private ByteBuffer kept = ByteBuffer.allocate(0);
        private int room = 1;
        boolean isShut;

        @Override
        public Sent send(OutgoingPacket packet) {
            throw new IllegalStateException("only packets that are held are sent here");
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            assertThat(kept.hasRemaining()).as("offered while one is kept").isFalse();
            if (isShut || room-- == 0) {
                kept = datagram;
                return Sent.KEPT;
            }
            note(datagram);
            return Sent.SENT;
        }

        private void note(ByteBuffer datagram) {
            sent.add(datagram.getInt(8));
            datagram.position(datagram.limit());
        }

        @Override
        public boolean flush() {
            if (isShut) {
                return !kept.hasRemaining();
            }
            if (kept.hasRemaining()) {
                note(kept);
            }
            room = 1;
            return true;
        }

        @Override
        public int waiting() {
            return kept.hasRemaining() ? 1 : 0;
        }

        @Override
        public int dropWaiting() {
            int count = waiting();
            kept = ByteBuffer.allocate(0);
            return count;
        }

        @Override
        public Gid local() {
            return LOCAL;
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            return 0;
        }

        @Override
        public List<PacketPort> ports() {
            return List.of(this);
        }

        @Override
        public PacketPort port(Gid local) {
            return this;
        }

        @Override
        public PacketPort open(InetAddress local) {
            return this;
        }

        @Override
        public PacketPort join(Gid group) {
            return this;
        }

        @Override
        public void leave(Gid group) {}

        @Override
        public void await(long timeoutNs) {}

        @Override
        public void wake() {}

        @Override
        public void close() {}
    }

    @Test
    void packetsThatTheNetworkStackKeepsGoFirstAndWhole() throws Exception {
        NarrowNetwork narrow = new NarrowNetwork();
        ImpairedNetwork impaired = new ImpairedNetwork(narrow,
                Impairment.NONE.withDelay(Duration.ofMillis(1)));
        PacketPort port = impaired.open(InetAddress.ofLiteral("127.0.0.1"));
        Gid peer = Gid.of(InetAddress.ofLiteral("127.0.0.2"));
        impaired.pollDue(0);
        for (int psn = 1; psn <= 5; psn++) {
            port.send(packet(psn, port.local(), peer));
        }
        assertThat(impaired.pollDue(1_000_000)).isFalse();
        assertThat(narrow.sent).containsExactly(1);
        assertThat(port.flush()).isTrue();
        assertThat(impaired.pollDue(1_000_000)).isFalse();
        assertThat(port.flush()).isTrue();
        assertThat(impaired.pollDue(1_000_000)).isTrue();
        assertThat(narrow.sent).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void packetsThatTheNetworkStackKeepsCanBeDropped() throws Exception {
        NarrowNetwork narrow = new NarrowNetwork();
        ImpairedNetwork impaired = new ImpairedNetwork(narrow,
                Impairment.NONE.withDelay(Duration.ofMillis(1)));
        PacketPort port = impaired.open(InetAddress.ofLiteral("127.0.0.1"));
        Gid peer = Gid.of(InetAddress.ofLiteral("127.0.0.2"));
        impaired.pollDue(0);
        narrow.isShut = true;
        // Several times as many as it can hold, so that the place of a dropped one is used again.
        for (int psn = 1; psn <= 3 * DelayedPackets.CAPACITY; psn++) {
            port.send(packet(psn, port.local(), peer));
            impaired.pollDue(psn * 2_000_000L);
            assertThat(port.dropWaiting()).isEqualTo(1);
            assertThat(port.waiting()).isZero();
        }
        assertThat(narrow.sent).isEmpty();
    }
}
