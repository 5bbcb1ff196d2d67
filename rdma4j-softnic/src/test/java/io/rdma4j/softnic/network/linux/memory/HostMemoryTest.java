// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.softnic.network.ring.LentSection;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

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

    private static final byte[] NOTHING = {};
    private static final int LENGTH = 40_000;

    private static final AtomicInteger TESTS = new AtomicInteger();

    /** Where the processes of this test meet. */
    private final String name = "rdma4j-test-memory-" + ProcessHandle.current().pid() + "-"
            + TESTS.incrementAndGet();
    private final List<Member> members = new ArrayList<>();

    @AfterEach
    void everythingIsClosed() {
        List.copyOf(members).forEach(Member::leave);
    }

    /** Memory of a device, with the registration that allows to lend it. */
    private record Registered(Arena arena, MemorySegment memory, Registration registration) {}

    /** What a process has. */
    private final class Member implements SharedMemory.Handler {
        final SharedPort port;
        final LinuxNetwork network;
        final SharedMemory memory;
        final List<Integer> received = new ArrayList<>();
        /** {@link #NOTHING} for what was withdrawn. */
        final List<byte[]> payloads = new ArrayList<>();
        /** Where each payload is copied, if they are too many to be kept: to collect them as garbage would take seconds. */
        byte @Nullable [] room;
        int lent;
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
            int length = arrived.payloadLength();
            byte[] payload = room == null ? new byte[length] : room;
            MemoryReference target = new MemoryReference();
            target.point(MemorySegment.ofArray(payload), 0);
            CopyOutcome outcome = arrived.settle(target.write(arrived.payloadMemory(),
                    arrived.payloadStart(), length));
            payloads.add(outcome == CopyOutcome.DONE ? payload : NOTHING);
            lent += arrived.isLent() ? 1 : 0;
        }

        /** Allocates memory that can be lent, and registers it. */
        Registered allocate(long byteSize) {
            Arena arena = Arena.ofShared();
            MemorySegment allocated = Objects.requireNonNull(
                    memory.lendable().allocate(byteSize, arena), "nothing can be lent");
            long place = memory.lendable().placeOf(allocated);
            return new Registered(arena, allocated, () -> place);
        }

        /** Lends the first bytes of memory. */
        void lend(Member other, int number, Registered from, int length) {
            packet.begin(Opcode.RC_WRITE_MIDDLE,
                    io.rdma4j.protocol.roce.wire.Path.between(Gid.of(ADDRESS), Gid.of(ADDRESS)),
                    other.queuePair(), number, false, false);
            MemoryReference reference = new MemoryReference();
            reference.point(from.memory, 0, from.registration);
            packet.addPayload(reference, length);
            assertThat(wayTo(other).send(packet, System.nanoTime()))
                    .isEqualTo(PacketPort.Sent.LENT);
            memory.flush();
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
        awaiting(member, slept);
        return slept;
    }

    private static Thread awaiting(Member member, CompletableFuture<Long> slept) {
        return Thread.ofPlatform().daemon().start(() -> {
            long startNs = System.nanoTime();
            member.network.await(20 * S);
            slept.complete(System.nanoTime() - startNs);
        });
    }

    private static Stream<StackTraceElement> frames(Thread thread) {
        return Arrays.stream(thread.getStackTrace());
    }

    /** Waits until it is among its sockets, in the system: its state does not say so. */
    private static void untilItSleeps(Thread thread) {
        Wait.until("the thread sleeps", () -> !thread.isAlive() || frames(thread)
                .anyMatch(frame -> frame.getClassName().equals(SocketPoller.class.getName())));
    }

    @Test
    void whoSleepsIsWoken() throws Exception {
        Member a = member();
        Member b = member();
        a.send(b, 1);
        b.receive();
        for (int i = 2; i < 20; i++) {
            CompletableFuture<Long> slept = new CompletableFuture<>();
            Thread sleeper = awaiting(b, slept);
            if (i % 2 == 0) {
                untilItSleeps(sleeper);
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
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writerAndReaderSleepWheneverTheyCan(boolean isLent) throws Exception {
        Member a = member();
        Member b = member();
        MemoryPath way = a.wayTo(b);
        MemoryReference payload = new MemoryReference();
        if (isLent) {
            Registered from = a.allocate(LENGTH);
            payload.point(from.memory, 0, from.registration);
        } else {
            payload.point(Arena.ofAuto().allocate(LENGTH), 0);
        }
        b.room = new byte[LENGTH];
        CompletableFuture<Integer> lateWriter = CompletableFuture
                .supplyAsync(() -> writeAll(a, b, way, payload), THREADS);
        int late = 0;
        while (b.received.size() < PACKETS) {
            b.memory.receive(b, 16);
            late += b.received.size() < PACKETS && sleepsTooLong(b) ? 1 : 0;
        }
        assertThat(lateWriter.get(10, TimeUnit.SECONDS) + late).isZero();
        for (int i = 0; i < PACKETS; i++) {
            assertThat(b.received.get(i)).isEqualTo(i);
        }
        assertThat(b.payloads).doesNotContain(NOTHING);
        assertThat(b.lent).isEqualTo(isLent ? PACKETS / 2 : 0);
    }

    private static int writeAll(Member a, Member b, MemoryPath way, MemoryReference payload) {
        int late = 0;
        for (int number = 0; number < PACKETS; number++) {
            while (!way.hasRoom(System.nanoTime())) {
                a.memory.flush();
                late += sleepsTooLong(a) ? 1 : 0;
            }
            a.packet.begin(Opcode.RC_SEND_MIDDLE, io.rdma4j.protocol.roce.wire.Path.between(
                    Gid.of(ADDRESS), Gid.of(ADDRESS)), b.queuePair(), number, false, false);
            // Bursts and pauses: now the reader waits, now the writer.
            a.packet.addPayload(payload, number % 1000 < 500 ? LENGTH : 10);
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

    // ---------------------------------------------------------------- lending

    @Test
    void lentPayloadIsReadWhereItIs() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        from.memory.set(ValueLayout.JAVA_BYTE, LENGTH - 1, (byte) 77);
        b.receive();
        byte[] expected = new byte[LENGTH];
        expected[LENGTH - 1] = 77;
        assertThat(b.payloads).containsExactly(expected);
        assertThat(b.lent).isEqualTo(1);
    }

    @Test
    void nothingIsReadOfMemoryThatEnds() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        Registered other = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        a.lend(b, 2, other, LENGTH);
        a.memory.lendable().ends(from.registration.sharedAt(), LENGTH);
        from.arena.close();
        Registered next = a.allocate(LENGTH);
        assertThat(next.registration.sharedAt()).as("it takes the place")
                .isEqualTo(from.registration.sharedAt());
        next.memory.fill((byte) 1);
        b.receive();
        assertThat(b.payloads).containsExactly(NOTHING, new byte[LENGTH]);
    }

    @Test
    void nothingIsReadOnceTheRegistrationHasEnded() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        a.memory.lendable().ended(from.registration);
        b.receive();
        assertThat(b.payloads).containsExactly(NOTHING);
    }

    @Test
    void nothingIsReadOfRequestsThatEndUnacknowledged() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        a.memory.withdrawRequests(b.queuePair() + 1);
        a.lend(b, 2, from, LENGTH);
        a.memory.withdrawRequests(b.queuePair());
        a.lend(b, 3, from, LENGTH);
        b.receive();
        assertThat(b.payloads).containsExactly(NOTHING, NOTHING, new byte[LENGTH]);
    }

    /** As one that lies may say. */
    @Test
    void nothingIsReadBehindTheEndOfThePages() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, new Registered(from.arena, from.memory, () -> LentSection.LENGTH), LENGTH);
        a.lend(b, 2, from, LENGTH);
        b.receive();
        assertThat(b.payloads).containsExactly(NOTHING, new byte[LENGTH]);
        assertThat(b.lent).isEqualTo(2);
    }

    @Test
    void whoeverHasLeftHasLentNothing() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        a.lend(b, 2, from, LENGTH);
        a.leave();
        b.receive();
        assertThat(b.payloads).containsExactly(NOTHING, NOTHING);
        from.arena.close();
    }

    /** A process that was killed withdraws nothing: what it has sent arrives as long as it can be had. */
    @Test
    void memoryOfADeadProcessIsNotKept() throws Exception {
        Member a = member();
        Member b = member();
        int before = mappings();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        b.receive();
        assertThat(mappings()).as("its own, its head, and that of the other")
                .isEqualTo(before + 3);
        a.die();
        from.arena.close();
        long nowNs = System.nanoTime();
        for (int i = 1; i <= 3; i++) {
            b.network.pollDue(nowNs + 2L * i * S);
        }
        assertThat(mappings()).as("but for the head, which the system unmaps with a real process")
                .isEqualTo(before + 1);
    }

    @Test
    void whatIsNotReadForAWhileIsUnmappedAndMappedAgain() throws Exception {
        Member a = member();
        Member b = member();
        Registered from = a.allocate(LENGTH);
        a.lend(b, 1, from, LENGTH);
        b.receive();
        int mapped = mappings();
        int open = descriptors();
        long nowNs = System.nanoTime();
        b.network.pollDue(nowNs + 2 * S);
        b.network.pollDue(nowNs + 4 * S);
        assertThat(mappings()).isEqualTo(mapped - 1);
        assertThat(descriptors()).isEqualTo(open - 1);
        assertThat(b.network.nextDueNs()).as("an idle device sleeps")
                .isGreaterThan(nowNs + 8 * S);
        a.lend(b, 2, from, LENGTH);
        b.receive();
        assertThat(b.payloads).containsExactly(new byte[LENGTH], new byte[LENGTH]);
    }

    @Test
    void nothingIsLeftWhenDevicesAndRegionsAreClosed() throws Exception {
        int mapped = mappings();
        int open = descriptors();
        for (int i = 0; i < 20; i++) {
            Member a = member();
            Member b = member();
            Registered from = a.allocate(LENGTH);
            Registered other = b.allocate(LENGTH);
            a.lend(b, 1, from, LENGTH);
            b.lend(a, 1, other, LENGTH);
            b.receive();
            a.receive();
            assertThat(a.lent + b.lent).isEqualTo(2);
            from.arena.close();
            a.leave();
            b.leave();
            other.arena.close();
        }
        assertThat(mappings()).isEqualTo(mapped);
        assertThat(descriptors()).isEqualTo(open);
    }

    @Test
    void memoryIsOfZerosAndOfNobodyElse() throws Exception {
        Member a = member();
        Random random = new Random(7);
        List<Registered> present = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            if (present.size() > 20 || (!present.isEmpty() && random.nextInt(3) == 0)) {
                Registered closed = present.remove(random.nextInt(present.size()));
                assertThat(closed.memory.mismatch(closed.memory.asSlice(1)))
                        .as("all bytes are as the first")
                        .isEqualTo(closed.memory.byteSize() - 1);
                closed.arena.close();
                continue;
            }
            Registered next = a.allocate(8192 + random.nextInt(300_000));
            assertThat(next.memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();
            assertThat(next.memory.mismatch(next.memory.asSlice(1)))
                    .isEqualTo(next.memory.byteSize() - 1);
            for (Registered each : present) {
                assertThat(
                        each.registration.sharedAt() + each.memory.byteSize() <= next.registration
                                .sharedAt()
                                || next.registration.sharedAt()
                                        + next.memory.byteSize() <= each.registration
                                                .sharedAt())
                        .isTrue();
            }
            next.memory.fill((byte) i);
            present.add(next);
        }
        present.forEach(each -> each.arena.close());
        assertThat(a.allocate(8192).registration.sharedAt()).as("all is free again")
                .isEqualTo(LendablePages.STRETCH);
    }

    @Test
    void placeIsKnownOfWhatLiesInside() throws Exception {
        Member a = member();
        Registered from = a.allocate(LENGTH);
        long place = from.registration.sharedAt();
        LendableMemory lendable = a.memory.lendable();
        assertThat(lendable.placeOf(from.memory.asSlice(5, 10))).isEqualTo(place + 5);
        assertThat(lendable.placeOf(from.memory.asSlice(LENGTH - 1, 1)))
                .isEqualTo(place + LENGTH - 1);
        assertThat(lendable.placeOf(from.memory.reinterpret(LENGTH + 1L)))
                .isEqualTo(Registration.NOT_SHARED);
        assertThat(lendable.placeOf(Arena.ofAuto().allocate(8)))
                .isEqualTo(Registration.NOT_SHARED);
        assertThat(lendable.placeOf(MemorySegment.ofArray(new byte[8])))
                .isEqualTo(Registration.NOT_SHARED);
        MemorySegment stale = MemorySegment.ofAddress(from.memory.address())
                .reinterpret(LENGTH);
        from.arena.close();
        assertThat(lendable.placeOf(stale)).isEqualTo(Registration.NOT_SHARED);
    }

    @Test
    void littleAndTooMuchIsOtherMemory() throws Exception {
        Member a = member();
        try (Arena arena = Arena.ofConfined()) {
            assertThat(a.memory.lendable().allocate(8191, arena)).isNull();
            assertThat(a.memory.lendable().allocate(-1, arena)).isNull();
            assertThat(a.memory.lendable().allocate(1L << 50, arena)).isNull();
            assertThat(a.memory.lendable().allocate(Long.MAX_VALUE, arena)).isNull();
        }
    }

    @Test
    void pagesGrowByWholeSections() throws Exception {
        Member a = member();
        Member b = member();
        Registered large = a.allocate(LentSection.LENGTH);
        Registered from = a.allocate(LENGTH);
        assertThat(from.registration.sharedAt()).isGreaterThan(LentSection.LENGTH);
        from.memory.fill((byte) 5);
        a.lend(b, 1, from, LENGTH);
        b.receive();
        assertThat(b.payloads.getFirst()[LENGTH - 1]).isEqualTo((byte) 5);
        assertThat(b.lent).isEqualTo(1);
        large.arena.close();
        from.arena.close();
    }

    private static int mappings() throws IOException {
        return (int) Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(LendablePages.NAME)).count();
    }

    private static int descriptors() throws IOException {
        int count = 0;
        try (DirectoryStream<Path> files = Files
                .newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files) {
                count += isOfPages(file) ? 1 : 0;
            }
        }
        return count;
    }

    private static boolean isOfPages(Path file) {
        try {
            return Files.readSymbolicLink(file).toString().contains(LendablePages.NAME);
        } catch (IOException closedMeanwhile) {
            return false;
        }
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
