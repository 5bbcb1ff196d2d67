// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Devices at one address that meet in memory, each with a share of the port as another process would have it. */
@Timeout(30)
class HostMemoryTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.45.67.90");
    private static final long S = 1_000_000_000;
    private static final long LONG_NS = 3 * S;
    private static final int PACKETS = 20_000;
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    private static final AtomicInteger TESTS = new AtomicInteger();

    /** Where the processes of this test meet. */
    private final String name = "rdma4j-test-memory-" + ProcessHandle.current().pid() + "-"
            + TESTS.incrementAndGet();
    private final List<Member> members = new ArrayList<>();

    @AfterEach
    void everythingIsClosed() {
        List.copyOf(members).forEach(Member::leave);
    }

    /** What a process has. */
    private final class Member implements SharedMemory.Handler {
        final SharedPort port;
        final LinuxNetwork network;
        final SharedMemory memory;
        final List<Integer> received = new ArrayList<>();
        final OutgoingPacket packet = new OutgoingPacket();

        Member(LinuxNetwork.SharedMemoryUse use) throws Exception {
            assumeThat(LinuxNetwork.obstacle()).isNull();
            port = SharedPort.open(name);
            network = new LinuxNetwork(
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), port,
                    use);
            network.open(ADDRESS);
            memory = Objects.requireNonNull(network.sharedMemory());
            members.add(this);
        }

        int queuePair() {
            return (port.prefix() << PortSharing.QUEUE_PAIR_BITS) | 5;
        }

        @Nullable
        MemoryPath pathTo(Member other) {
            return memory.path(io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                    Gid.of(ADDRESS)), other.queuePair());
        }

        MemoryPath wayTo(Member other) {
            return Objects.requireNonNull(pathTo(other), "no way");
        }

        void send(Member other, int number) {
            packet.begin(Opcode.RC_SEND_ONLY,
                    io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                            Gid.of(ADDRESS)),
                    other.queuePair(), number, true, false);
            assertThat(wayTo(other).send(packet, System.nanoTime()))
                    .isEqualTo(PacketPort.Sent.SENT);
            memory.flush();
        }

        void receive() {
            while (memory.receive(this, 64) > 0) {
                // There may be more.
            }
        }

        @Override
        public void onPacket(PacketView arrived) {
            assertThat(arrived.source()).isEqualTo(Gid.of(ADDRESS));
            assertThat(arrived.destination()).isEqualTo(Gid.of(ADDRESS));
            received.add(arrived.psn());
        }

        @Override
        public void onMalformed(Gid source) {
            throw new AssertionError("nobody has written what is no packet");
        }

        @Override
        public void onNonsense() {
            throw new AssertionError("nobody has written nonsense");
        }

        void leave() {
            if (members.remove(this)) {
                network.close();
                port.close();
            }
        }

        /** The system closes its sockets and releases its locks, without a message to other processes. */
        void die() {
            members.remove(this);
            port.close();
            try {
                network.close();
            } catch (IllegalStateException cannotTell) {
                // As is wanted.
            }
        }
    }

    private Member member() throws Exception {
        return new Member(LinuxNetwork.SharedMemoryUse.OTHERS);
    }

    // ---------------------------------------------------------------- finding each other

    @Test
    void packetsPassBothWays() throws Exception {
        Member a = member();
        Member b = member();
        a.send(b, 1);
        b.send(a, 2);
        a.send(b, 3);
        a.receive();
        b.receive();
        assertThat(a.received).containsExactly(2);
        assertThat(b.received).containsExactly(1, 3);
    }

    @Test
    void aDeviceReachesItselfThroughMemoryOnlyIfAsked() throws Exception {
        Member others = member();
        assertThat(others.pathTo(others)).isNull();
        Member all = new Member(LinuxNetwork.SharedMemoryUse.ALL);
        all.send(all, 7);
        all.receive();
        assertThat(all.received).containsExactly(7);
    }

    @Test
    void addressesOfNobodyAreReachedByTheNetwork() throws Exception {
        Member a = member();
        Member b = member();
        assertThat(a.memory.path(io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                Gid.of(InetAddress.ofLiteral("127.45.67.91"))), b.queuePair())).isNull();
        assertThat(a.memory.path(io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                Gid.of(ADDRESS)), 200 << PortSharing.QUEUE_PAIR_BITS)).isNull();
    }

    @Test
    void whoComesLaterIsFound() throws Exception {
        Member a = member();
        int before = a.memory.version();
        Member b = member();
        assertThat(a.memory.version()).isNotEqualTo(before);
        assertThat(a.pathTo(b)).isNotNull();
    }

    @Test
    void whoLeavesIsForgotten() throws Exception {
        Member a = member();
        Member b = member();
        MemoryPath way = a.wayTo(b);
        int before = a.memory.version();
        b.leave();
        assertThat(a.memory.version()).isNotEqualTo(before);
        assertThat(way.isOpen()).isFalse();
        assertThat(a.pathTo(b)).isNull();
    }

    @Test
    void anAddressThatGoesLeadsNowhere() throws Exception {
        Member a = member();
        Member b = member();
        assertThat(a.pathTo(b)).isNotNull();
        b.network.leave(Gid.of(ADDRESS));
        assertThat(a.pathTo(b)).isNull();
    }

    @Test
    void anAddressThatGoesSendsNothing() throws Exception {
        Member a = member();
        Member b = member();
        assertThat(a.pathTo(b)).isNotNull();
        int before = a.memory.version();
        a.network.leave(Gid.of(ADDRESS));
        assertThat(a.memory.version()).isNotEqualTo(before);
        assertThat(a.pathTo(b)).isNull();
    }

    @Test
    void twoAddressesOfADeviceAreOneMailbox() throws Exception {
        Member a = member();
        Member b = member();
        InetAddress second = InetAddress.ofLiteral("127.45.67.92");
        b.network.open(second);
        assertThat(a.memory.path(io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                Gid.of(second)), b.queuePair())).isSameAs(a.pathTo(b));
    }

    // ---------------------------------------------------------------- sleeping

    private static CompletableFuture<Long> await(Member member) {
        CompletableFuture<Long> slept = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            long startNs = System.nanoTime();
            member.network.await(20 * S);
            slept.complete(System.nanoTime() - startNs);
        });
        return slept;
    }

    @Test
    void whoSleepsIsWoken() throws Exception {
        Member a = member();
        Member b = member();
        a.send(b, 1);
        b.receive();
        for (int i = 2; i < 20; i++) {
            CompletableFuture<Long> slept = await(b);
            if (i % 2 == 0) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
            a.send(b, i);
            assertThat(slept.get(10, TimeUnit.SECONDS)).isLessThan(10 * S);
            b.receive();
        }
        assertThat(b.received).hasSize(19);
    }

    @Test
    void whoHasSomethingDoesNotSleep() throws Exception {
        Member a = member();
        Member b = member();
        a.send(b, 1);
        assertThat(await(b).get(10, TimeUnit.SECONDS)).isLessThan(10 * S);
    }

    @Test
    void aWakeUpEndsOneSleepAlone() throws Exception {
        Member a = member();
        Member b = member();
        CompletableFuture<Long> first = await(b);
        a.send(b, 1);
        first.get(10, TimeUnit.SECONDS);
        b.receive();
        // What was left of the wake-up may end another one early, but not all.
        int early = 0;
        for (int i = 0; i < 5; i++) {
            long startNs = System.nanoTime();
            b.network.await(20_000_000);
            early += System.nanoTime() - startNs < 15_000_000 ? 1 : 0;
        }
        assertThat(early).isLessThan(2);
    }

    /** Either side sleeps whenever it has nothing to do, and no wake-up is lost. */
    @Test
    void writerAndReaderSleepWheneverTheyCan() throws Exception {
        Member a = member();
        Member b = member();
        MemoryPath way = a.wayTo(b);
        CompletableFuture<Integer> lateWriter = CompletableFuture
                .supplyAsync(() -> writeAll(a, b, way), THREADS);
        int late = 0;
        while (b.received.size() < PACKETS) {
            b.memory.receive(b, 16);
            late += b.received.size() < PACKETS && sleepsTooLong(b) ? 1 : 0;
        }
        assertThat(lateWriter.get(10, TimeUnit.SECONDS) + late).isZero();
        for (int i = 0; i < PACKETS; i++) {
            assertThat(b.received.get(i)).isEqualTo(i);
        }
    }

    private static int writeAll(Member a, Member b, MemoryPath way) {
        MemorySegment payload = Arena.ofAuto().allocate(40_000);
        int late = 0;
        for (int number = 0; number < PACKETS; number++) {
            while (!way.hasRoom(System.nanoTime())) {
                a.memory.flush();
                late += sleepsTooLong(a) ? 1 : 0;
            }
            a.packet.begin(Opcode.RC_SEND_MIDDLE, io.rdma4j.protocol.roce.wire.Path.between(
                    Gid.of(ADDRESS), Gid.of(ADDRESS)), b.queuePair(), number, false, false);
            // Bursts and pauses: now the reader waits, now the writer.
            a.packet.addPayload(payload, 0, number % 1000 < 500 ? 40_000 : 10);
            way.send(a.packet, System.nanoTime());
            if (number % 7 == 0) {
                a.memory.flush();
            }
        }
        a.memory.flush();
        return late;
    }

    private static boolean sleepsTooLong(Member member) {
        long startNs = System.nanoTime();
        member.network.await(LONG_NS);
        return System.nanoTime() - startNs >= LONG_NS;
    }

    // ---------------------------------------------------------------- dying

    @Test
    void whoIsDeadIsGivenUpWhenItsRingIsFull() throws Exception {
        Member a = member();
        Member b = member();
        MemoryPath way = a.wayTo(b);
        b.die();
        long nowNs = 0;
        a.packet.begin(Opcode.RC_SEND_MIDDLE,
                io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS),
                        Gid.of(ADDRESS)),
                b.queuePair(), 1, true, false);
        MemorySegment payload = Arena.ofAuto().allocate(4096);
        a.packet.addPayload(payload, 0, 4096);
        while (way.isOpen() && nowNs < 10 * S) {
            if (way.hasRoom(nowNs)) {
                way.send(a.packet, nowNs);
            }
            nowNs += 10_000_000;
        }
        assertThat(way.isOpen()).isFalse();
        assertThat(a.pathTo(b)).isNull();
    }

    @Test
    void aNewProcessWithTheNumbersOfADeadOneIsAnother() throws Exception {
        Member a = member();
        Member b = member();
        MemoryPath way = a.wayTo(b);
        int prefix = b.port.prefix();
        b.die();
        Member c = member();
        while (c.port.prefix() != prefix) {
            c.leave();
            c = member();
        }
        assertThat(a.pathTo(c)).isNotNull().isNotSameAs(way);
        assertThat(way.isOpen()).isFalse();
        a.send(c, 9);
        c.receive();
        assertThat(c.received).containsExactly(9);
    }
}
