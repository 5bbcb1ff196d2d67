// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@EnabledOnOs(OS.LINUX)
@Timeout(30)
class SharedPortTest extends SharingStage {
    private static final InetAddress ELSEWHERE = InetAddress.ofLiteral(NETWORK + "9.9");

    @Test
    void whoElseListensIsKnown() throws Exception {
        int service = 0x0106_4444;
        Member listener = new Member();
        Member other = new Member();
        listener.port.listen(service);
        assertThat(other.port.otherListener(Gid.of(ADDRESS), service))
                .isEqualTo(listener.port.prefix());
        assertThat(other.port.otherListener(Gid.of(ELSEWHERE), service)).isZero();
        assertThat(other.port.otherListener(Gid.of(ADDRESS), service + 1)).isZero();
        assertThat(listener.port.otherListener(Gid.of(ADDRESS), service)).isZero();

        int prefix = listener.port.prefix();
        assertThat(other.port.isOthers(prefix)).isTrue();
        assertThat(other.port.isOthers(0)).isFalse();
        assertThat(other.port.isOthers(other.port.prefix())).isFalse();
        listener.die();
        assertThat(other.port.otherListener(Gid.of(ADDRESS), service)).isZero();
        assertThat(other.port.isOthers(prefix)).isFalse();
    }

    @Test
    void eachProcessReceivesWhatHasItsPrefix() throws Exception {
        for (int i = 0; i < 5; i++) {
            new Member();
            assertEachGetsItsOwn();
        }
        assertThat(members.stream().map(member -> member.port.prefix())).doesNotHaveDuplicates();
    }

    @Test
    void whoLeavesLetsTheOthersGoOn() throws Exception {
        for (int i = 0; i < 5; i++) {
            new Member();
        }
        for (int place : new int[]{1, 3, 0, 0}) {
            members.get(place).leave();
            assertEachGetsItsOwn();
        }
    }

    @Test
    void whoDiesIsFoundByWhoeverMends() throws Exception {
        Random random = new Random(1);
        for (int round = 0; round < 20; round++) {
            while (members.size() < 7) {
                whileAllReceive(Member::new);
            }
            int deaths = 1 + random.nextInt(4);
            for (int i = 0; i < deaths; i++) {
                members.get(random.nextInt(members.size())).die();
            }
            Member mending = members.get(random.nextInt(members.size()));
            whileAllReceive(() -> assertThat(mending.port.mend(false)).isTrue());
            assertEachGetsItsOwn();
            assertThat(mending.port.mend(false)).isFalse();
        }
    }

    @Test
    void whoJoinsFindsTheDeadAsWell() throws Exception {
        for (int i = 0; i < 6; i++) {
            new Member();
        }
        members.get(1).die();
        members.get(3).die();
        whileAllReceive(Member::new);
        assertEachGetsItsOwn();
    }

    @Test
    void whoSaysNothingHasThePlaceThatIsLeft() throws Exception {
        for (int i = 0; i < 6; i++) {
            new Member();
        }
        Member silent = members.get(2);
        members.remove(silent);
        members.getFirst().die();
        whileAllReceive(() -> members.getFirst().port.mend(false));
        members.add(silent);
        silent.receive();
        silent.received();
        assertEachGetsItsOwn();
    }

    @Test
    void whoSaysNothingKeepsItsPlaceBesideOneWithoutASocket() throws Exception {
        for (int i = 0; i < 5; i++) {
            new Member();
        }
        Member silent = members.get(3);
        Member gone = members.get(1);
        members.remove(silent);
        members.remove(gone);
        gone.socket.close();
        whileAllReceive(() -> members.getFirst().port.mend(true));
        members.add(silent);
        silent.receive();
        silent.received();
        assertEachGetsItsOwn();
        gone.port.close();
    }

    @Test
    void placesThatSeemRightAreAskedForWhenInDoubt() throws Exception {
        for (int i = 0; i < 5; i++) {
            new Member();
        }
        // It could not write down that it is gone, and is alive.
        Member gone = members.get(1);
        members.remove(gone);
        gone.socket.close();
        whileAllReceive(() -> assertThat(members.getFirst().port.mend(true)).isFalse());
        assertEachGetsItsOwn();
        gone.port.close();
    }

    @Test
    void numbersOfMorePrefixesReachTheirProcess() throws Exception {
        for (int i = 0; i < 3; i++) {
            new Member();
        }
        Member large = members.get(1);
        int more = large.port.takePrefix();
        assertThat(large.port.isOwn((more << 16) | 5)).isTrue();
        assertThat(members.getFirst().port.isOwn((more << 16) | 5)).isFalse();
        new Member();
        try (DatagramSocket out = new DatagramSocket()) {
            byte[] packet = ByteBuffer.allocate(64).putInt(4, (more << 16) | 5).array();
            out.send(new DatagramPacket(packet, packet.length, ADDRESS, Path.UDP_PORT));
        }
        assertThat(large.received()).containsExactly((more << 16) | 5);
        assertEachGetsItsOwn();
    }

    /** A process that is being started has copies of its parent's sockets until it runs its own program. */
    @Test
    void aSocketThatIsAboutToGoIsWaitedFor() throws Exception {
        new Member();
        new Member();
        LinuxSocket going = stranger();
        Thread joining = Thread.currentThread();
        Thread closing = Thread.ofPlatform().start(() -> {
            Wait.until("the next member waits",
                    () -> joining.getState() == Thread.State.TIMED_WAITING);
            going.close();
        });
        whileAllReceive(Member::new);
        closing.join();
        assertEachGetsItsOwn();
    }

    @Test
    void aSocketThatIsAboutToGoIsWaitedForByTheFirstProcess() throws Exception {
        LinuxSocket going = stranger();
        Thread joining = Thread.currentThread();
        Thread closing = Thread.ofPlatform().start(() -> {
            Wait.until("the member waits",
                    () -> joining.getState() == Thread.State.TIMED_WAITING);
            going.close();
        });
        whileAllReceive(Member::new);
        closing.join();
        new Member();
        assertEachGetsItsOwn();
    }

    @Test
    void mendingThatFindsNoThreadIsTriedAgain() throws Exception {
        AtomicInteger shortages = new AtomicInteger(1);
        AtomicInteger threads = new AtomicInteger();
        SharedPort port = SharedPort.open(name, 0, ShortOfThreads.during(() -> {
            threads.incrementAndGet();
            return shortages.getAndDecrement() > 0;
        }));
        try {
            port.onMisdirected(0);
            Wait.until("a second thread is asked for", () -> {
                port.onMisdirected(0);
                return threads.get() > 1;
            });
        } finally {
            port.close();
        }
    }

    @Test
    void whatPassesIsNoReasonToDoWithoutSharing() {
        assertThat(SharedPort.mayPass(Errno.EMFILE)).isTrue();
        assertThat(SharedPort.mayPass(Errno.ENFILE)).isTrue();
        assertThat(SharedPort.mayPass(Errno.ETIMEDOUT)).isTrue();
        assertThat(SharedPort.mayPass(Errno.EACCES)).isFalse();
        assertThat(SharedPort.mayPass(Errno.EBUSY)).isFalse();
    }

    /** As Linux refuses a program that is too long for its {@code net.core.optmem_max}. */
    @Test
    void serviceThatCannotBeSteeredIsNotInTheTable() throws Exception {
        int service = 0x0106_0000 | 7471;
        TableSocket joined = TableSocket.join(name);
        SharedTable table = new SharedTable(joined.pages().map(0, SharedTable.LENGTH));
        try (TableLocks locks = new TableLocks(joined.path())) {
            locks.lock();
            Prefixes prefixes = new Prefixes(locks, table);
            int prefix = prefixes.take(0);
            locks.unlock();
            ServicePorts services = new ServicePorts(locks, table, prefixes, prefix, () -> {
                throw new LinuxSocket.Refused(LinuxCalls.ENOMEM, "setsockopt");
            });
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> services.listen(service))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
            assertThat(table.listeners(service)).isEmpty();
            assertThat(services.isIntact()).isTrue();
        } finally {
            joined.close();
        }
    }

    @Test
    void aSocketOfAStrangerIsAnError() throws Exception {
        LinuxSocket stranger = stranger();
        try {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(Member::new)
                    .withMessageContaining(
                            "UDP port 4791 of " + ADDRESS.getHostAddress() + " is taken")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        } finally {
            stranger.close();
        }
        new Member();
        assertEachGetsItsOwn();
    }

    @Test
    void prefixesRestBeforeTheyAreGivenOutAgain() throws Exception {
        int first = new Member().port.prefix();
        members.getFirst().leave();
        assertThat(new Member().port.prefix()).isNotEqualTo(first);
    }

    /**
     * As a test suite does that is killed again and again, and never uses an address twice. That nothing is used up is looked at
     * after each time: a process that joins reads the kernel's whole list of sockets, starts a thread and closes arenas, for all
     * of which it waits where the processors are busy, so that a thousand took longer than a test may.
     *
     * @param alive how many live meanwhile, each at an address of its own
     * @return the address of the last one
     */
    private InetAddress crash(int alive) throws Exception {
        SharedTable table = table();
        InetAddress last = ADDRESS;
        for (int i = 0; i < 50; i++) {
            last = InetAddress.ofLiteral(NETWORK + "0." + i);
            new Member(last, 0).die();
            // The dead one's, until somebody looks.
            assertThat(table.used()).hasSize(alive + 1);
        }
        return last;
    }

    @Test
    void crashesUseNothingUpBesideWhoLives() throws Exception {
        new Member();
        long length = Files.size(looking.path());
        crash(1);
        new Member();
        assertEachGetsItsOwn();
        assertThat(Files.size(looking.path())).isEqualTo(length);
    }

    @Test
    void crashesUseNothingUpWhereNobodyLives() throws Exception {
        InetAddress last = crash(0);
        assertThat(table().find(Gid.of(last), 0)).isNotNegative();
        new Member();
        assertThat(table().find(Gid.of(last), 0)).isNegative();
        assertEachGetsItsOwn();
    }

    @Test
    void whoIsInAPlaceWithoutANameIsAsked() throws Exception {
        for (int i = 0; i < 4; i++) {
            new Member();
        }
        members.get(0).die();
        // Takes the name of the dead away.
        SharedPort passing = SharedPort.open(name);
        passing.close();
        assertThat(table().places(0)).startsWith(SharedTable.NOBODY).hasSize(4);
        whileAllReceive(() -> assertThat(members.getFirst().port.mend(false)).isTrue());
        assertEachGetsItsOwn();
    }

    @Test
    void whatADeadProcessHeldIsNotItsSuccessors() throws Exception {
        int service = 0x0106_1234;
        SharedPort dead = SharedPort.open(name);
        int prefix = dead.prefix();
        dead.reserve(service);
        dead.listen(service);
        dead.close();
        SharedPort successor = nextOf(prefix);
        SharedPort other = SharedPort.open(name);
        other.reserve(service).release();
        assertThat(table().services()).isEmpty();
        other.close();
        successor.close();
    }

    /** {@return the process that has a prefix after all others had their turn, as the table says} */
    private SharedPort nextOf(int prefix) throws Exception {
        int before = prefix == SharedTable.FIRST_PREFIX ? SharedTable.LAST_PREFIX : prefix - 1;
        table().taken(before, before, 0);
        for (int i = 0; i < SharedTable.LAST_PREFIX; i++) {
            SharedPort next = SharedPort.open(name);
            if (next.prefix() == prefix) {
                return next;
            }
            next.close();
        }
        throw new AssertionError("prefix " + prefix + " was not given out again");
    }

    @Test
    void theTableHasAllTheMemoryThatItNeeds() throws Exception {
        new Member();
        Process stat = new ProcessBuilder("stat", "--dereference", "--format=%b",
                "/proc/" + PID + "/fd/" + looking.pages().descriptor()).start();
        long blocks = Long.parseLong(stat.inputReader().readLine());
        assertThat(blocks * 512).isGreaterThanOrEqualTo(SharedTable.LENGTH);
    }

    /** {@code RDMA_PS_TCP}, {@code RDMA_PS_UDP} and {@code RDMA_PS_IB}. */
    @ParameterizedTest
    @ValueSource(ints = {0x0106, 0x0111, 0x013f})
    void aPortBelongsToOneProcessInEachSpace(int space) throws Exception {
        SharedPort one = new Member().port;
        SharedPort other = new Member().port;
        PortSharing.Reservation held = one.reserve(space << 16 | 4444);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> other.reserve(space << 16 | 4444))
                .withMessageContaining("port 4444 is held by process "
                        + ProcessHandle.current().pid())
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        for (int another : new int[]{0x0106, 0x0111, 0x013f}) {
            if (another != space) {
                other.reserve(another << 16 | 4444).release();
            }
        }
        held.release();
        other.reserve(space << 16 | 4444).release();
    }

    /** A REQ (0x10) opens a connection, a SIDR_REQ (0x17) looks a datagram service up. */
    @ParameterizedTest
    @CsvSource({"0x10, 0x0106", "0x10, 0x013f", "0x17, 0x0111", "0x17, 0x013f"})
    void requestsReachTheProcessThatListens(String attribute, String space) throws Exception {
        for (int i = 0; i < 4; i++) {
            new Member();
        }
        for (int i = 1; i < 4; i++) {
            members.get(i).port.listen(Integer.decode(space) << 16 | 7000 + i);
        }
        for (int i = 3; i > 0; i--) {
            byte[] request = ByteBuffer.allocate(280).putInt(4, IbConnectionManager.QUEUE_PAIR)
                    .putShort(36, Integer.decode(attribute).shortValue())
                    .putInt(56, Integer.decode(space) << 16 | 7000 + i).array();
            try (DatagramSocket out = new DatagramSocket()) {
                out.send(new DatagramPacket(request, request.length, ADDRESS, Path.UDP_PORT));
            }
            for (int other = 0; other < 4; other++) {
                assertThat(members.get(other).received()).hasSize(other == i ? 1 : 0);
            }
        }
    }
}
