package io.rdma4j.softnic.network.linux;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.lang.foreign.Arena;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Giving up an address or a mailbox while another process has the lock: no thread waits, and it is done once the lock is
 * free.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class HeldLockTest extends SharingStage {
    private final Arena arena = Arena.ofShared();
    private SharedTable table = new SharedTable(memory.allocate(SharedTable.LENGTH, 8));

    @BeforeEach
    void threeAreThere() throws Exception {
        for (int i = 0; i < 3; i++) {
            new Member();
        }
        table = table(arena);
    }

    @AfterEach
    void memoryIsFreed() {
        arena.close();
    }

    private TableLocks holder() throws Exception {
        TableLocks holder = new TableLocks(folder.resolve(NAME), arena);
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
}
