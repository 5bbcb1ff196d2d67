// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Giving up an address or a mailbox while another process has the lock: it is done once the lock is free, and no thread
 * waits but one that closes a network, for a second at most.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class HeldLockTest extends SharingStage {
    private static final InetAddress ELSEWHERE = InetAddress.ofLiteral(NETWORK + "8.8");

    private SharedTable table = new SharedTable(memory.allocate(SharedTable.LENGTH, 8));

    @BeforeEach
    void threeAreThere() throws Exception {
        for (int i = 0; i < 3; i++) {
            new Member();
        }
        table = table();
    }

    private TableLocks holder() throws Exception {
        TableLocks holder = new TableLocks(looking.path());
        holder.lock();
        return holder;
    }

    @Test
    void whoLeavesDoesNotWait() throws Exception {
        Member leaving = members.get(0);
        int group = table.find(Gid.of(ADDRESS), 0);
        try (TableLocks holder = holder()) {
            leaving.port.leave(leaving.socket);
            assertThat(table.places(group)).contains(leaving.port.prefix());
            holder.unlock();
        }
        Wait.until("the table knows that it has left",
                () -> !table.places(group).contains(leaving.port.prefix())
                        && !table.isChanging(group));
        leaving.leave();
        assertEachGetsItsOwn();
    }

    @Test
    void whoHasLeftCanJoinAgainAtOnce() throws Exception {
        Member member = members.get(0);
        try (TableLocks holder = holder()) {
            member.port.leave(member.socket);
            holder.unlock();
        }
        LinuxSocket next = LinuxSocket.open(SocketAddress.AF_INET, memory);
        member.port.join(Gid.of(ADDRESS), 0, next, member::bind);
        assertThat(table.places(table.find(Gid.of(ADDRESS), 0)))
                .containsExactlyInAnyOrderElementsOf(
                        members.stream().map(each -> each.port.prefix()).toList());
        member.port.leave(next);
    }

    @Test
    void aMailboxIsWithdrawnWithoutWaiting() throws Exception {
        SharedPort port = members.get(0).port;
        MailboxTable.Entry mailbox = new MailboxTable.Entry(Gid.of(ADDRESS), 0, port.prefix(),
                ProcessHandle.current().pid(), 7, 1, 2, 3);
        assertThat(port.publish(mailbox)).isTrue();
        try (TableLocks holder = holder()) {
            port.withdraw(mailbox);
            assertThat(table.mailboxes().all()).containsExactly(mailbox);
            holder.unlock();
        }
        Wait.until("the mailbox is withdrawn", () -> table.mailboxes().all().isEmpty());
    }

    @Test
    void aMailboxThatIsPublishedAgainStays() throws Exception {
        SharedPort port = members.get(0).port;
        MailboxTable.Entry mailbox = new MailboxTable.Entry(Gid.of(ADDRESS), 0, port.prefix(),
                ProcessHandle.current().pid(), 7, 1, 2, 3);
        assertThat(port.publish(mailbox)).isTrue();
        try (TableLocks holder = holder()) {
            port.withdraw(mailbox);
            holder.unlock();
        }
        assertThat(port.publish(mailbox)).isTrue();
        assertThat(port.mend(false)).isFalse();
        assertThat(table.mailboxes().all()).containsExactly(mailbox);
    }

    /** Its thread would wait behind the one that waits for the lock. */
    @Test
    void aPortIsGivenBackWhileAnotherThreadWaitsForTheLock() throws Exception {
        SharedPort port = members.get(0).port;
        PortSharing.Reservation held = port.reserve(0x0106_1d31);
        try (TableLocks holder = holder()) {
            Thread waiting = Thread.ofPlatform().start(() -> {
                try {
                    port.reserve(0x0106_1d32).release();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            });
            Wait.until("it waits for the lock",
                    () -> waiting.getState() == Thread.State.TIMED_WAITING);
            Thread releasing = Thread.ofPlatform().start(held::release);
            assertThat(releasing.join(Duration.ofSeconds(2))).isTrue();
            assertThat(table.owner(0, 0x1d31)).isZero();
            assertThat(waiting.isAlive()).isTrue();
            holder.unlock();
            waiting.join();
        }
    }

    // ---------------------------------------------------------------- a network is closed

    private LinuxNetwork network(SharedPort port) throws Exception {
        LinuxNetwork network = new LinuxNetwork(NetworkInterface.getByInetAddress(
                InetAddress.getLoopbackAddress()), port,
                LinuxNetwork.SharedMemoryUse.NEVER);
        network.open(ELSEWHERE);
        return network;
    }

    /** What arrives for it is not read any more, and would end each sleep. */
    @Test
    void aSocketThatWaitsToBeClosedWakesNobody() throws Exception {
        try (SharedPort port = SharedPort.open(name);
                DatagramSocket sender = new DatagramSocket(0, ELSEWHERE)) {
            LinuxNetwork network = network(port);
            try (TableLocks holder = holder()) {
                network.leave(Gid.of(ELSEWHERE));
                assertThat(sockets()).isPositive();
                sender.send(new DatagramPacket(new byte[64], 64, ELSEWHERE, Path.UDP_PORT));
                assertThat(rounds(network, Duration.ofSeconds(1))).isLessThan(5);
                holder.unlock();
            }
            Wait.until("the socket is closed", () -> sockets() == 0);
            network.close();
        }
    }

    /** {@return how often a thread wakes that sleeps in a network for as long as it can} */
    private static int rounds(LinuxNetwork network, Duration time) {
        long endNs = System.nanoTime() + time.toNanos();
        int rounds = 0;
        for (long leftNs = time.toNanos(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
            network.await(leftNs);
            rounds++;
        }
        return rounds;
    }

    private static int sockets() {
        return PortHolder.count(ELSEWHERE, Path.UDP_PORT);
    }

    /** Another program can bind to the address then. A thread that ends is often interrupted. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoClosesANetworkWaitsForTheLock(boolean isInterrupted) throws Exception {
        try (SharedPort port = SharedPort.open(name)) {
            LinuxNetwork network = network(port);
            Thread closing = Thread.ofPlatform().unstarted(network::close);
            try (TableLocks holder = holder()) {
                closing.start();
                if (isInterrupted) {
                    closing.interrupt();
                }
                assertThat(closing.join(Duration.ofMillis(50))).isFalse();
                assertThat(sockets()).isEqualTo(1);
                holder.unlock();
            }
            closing.join();
            assertThat(sockets()).isZero();
        }
    }

    @Test
    void whoClosesANetworkDoesNotWaitLong() throws Exception {
        try (SharedPort port = SharedPort.open(name)) {
            LinuxNetwork network = network(port);
            try (TableLocks holder = holder()) {
                network.close();
                assertThat(sockets()).isEqualTo(1);
                holder.unlock();
            }
            Wait.until("it is closed", () -> sockets() == 0);
        }
    }
}
