// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Another program of the user damages the table: no process that shares it fails, each enters its part again, and
 * new ones can start.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class DamagedTableTest extends SharingStage {
    private static final int SERVICE = 0x0106_1d2f;
    private static final int PORT = 0x0106_1d30;

    enum Damage {
        ZEROS {
            @Override
            void happen(FileChannel file, long length) throws IOException {
                file.write(ByteBuffer.allocate((int) length), 0);
            }
        },
        NOISE {
            @Override
            void happen(FileChannel file, long length) throws IOException {
                byte[] noise = new byte[(int) length];
                new Random(1).nextBytes(noise);
                file.write(ByteBuffer.wrap(noise), 0);
            }
        },
        NOISE_BEHIND_THE_START {
            @Override
            void happen(FileChannel file, long length) throws IOException {
                byte[] noise = new byte[(int) length - 512];
                new Random(2).nextBytes(noise);
                file.write(ByteBuffer.wrap(noise), 512);
            }
        },
        WORDS {
            @Override
            void happen(FileChannel file, long length) throws IOException {
                Random random = new Random(3);
                for (int i = 0; i < 5000; i++) {
                    file.write(ByteBuffer.allocate(8).putLong(0, random.nextLong()),
                            random.nextLong(length / 8) * 8);
                }
            }
        };

        abstract void happen(FileChannel file, long length) throws IOException;
    }

    private PortSharing.Reservation held = () -> {};
    private MailboxTable.Entry mailbox = new MailboxTable.Entry(Gid.of(ADDRESS), 0, 0, 0, 0, 0, 0,
            0);

    @BeforeEach
    void threeAreThere() throws Exception {
        for (int i = 0; i < 3; i++) {
            new Member();
        }
        members.get(1).port.listen(SERVICE);
        held = members.get(2).port.reserve(PORT);
        mailbox = new MailboxTable.Entry(Gid.of(ADDRESS), 0, members.get(0).port.prefix(),
                ProcessHandle.current().pid(), 7, 1, 2, 3);
        assertThat(members.get(0).port.publish(mailbox)).isTrue();
    }

    private void happens(Damage damage) throws Exception {
        try (FileChannel file = FileChannel.open(looking.path(), StandardOpenOption.WRITE)) {
            damage.happen(file, SharedTable.LENGTH);
        }
    }

    private void allCheck() throws Exception {
        whileAllReceive(() -> members.forEach(member -> member.port.check()));
    }

    private void assertAllIsThere() throws Exception {
        assertEachGetsItsOwn();
        SharedPort other = members.getFirst().port;
        assertThat(other.otherListener(Gid.of(ADDRESS), SERVICE))
                .isEqualTo(members.get(1).port.prefix());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> other.reserve(PORT))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        assertThat(other.mailboxes().all()).contains(mailbox);
        assertThat(table().services()).containsEntry(SERVICE, members.get(1).port.prefix());
    }

    /** What threads do that drive an engine, over and over. */
    @ParameterizedTest
    @EnumSource
    void whoUsesTheTableDoesNotFail(Damage damage) throws Exception {
        SharedPort port = members.getFirst().port;
        for (int i = 0; i < 3000; i++) {
            if (i % 1000 == 0) {
                happens(damage);
            }
            int _ = port.mailboxes().changes();
            assertThat(port.isKey(0x1234_5678)).isFalse();
            port.onProbe(i & 0xff, i);
            int _ = port.firstPrefix(i << 8);
            if (i % 100 == 0) {
                assertThat(port.mailboxes().all()).isNotNull();
                int _ = port.otherListener(Gid.of(ADDRESS), SERVICE);
            }
        }
        assertEachGetsItsOwn();
    }

    @ParameterizedTest
    @EnumSource
    void eachProcessEntersItsPartAgain(Damage damage) throws Exception {
        happens(damage);
        allCheck();
        assertAllIsThere();
        // By now all have, and set the programs.
        allCheck();
        assertAllIsThere();
        members.get(1).leave();
        assertEachGetsItsOwn();
    }

    @ParameterizedTest
    @EnumSource
    void newProcessesStartAfterwards(Damage damage) throws Exception {
        happens(damage);
        allCheck();
        whileAllReceive(Member::new);
        assertAllIsThere();
        held.release();
        members.getLast().port.reserve(PORT).release();
    }

    /** It waits until the others have noticed. */
    @ParameterizedTest
    @EnumSource
    void newProcessesStartBeforeTheOthersHaveNoticed(Damage damage) throws Exception {
        happens(damage);
        Thread checking = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                members.forEach(member -> member.port.check());
            }
        });
        try {
            whileAllReceive(Member::new);
        } finally {
            checking.interrupt();
            checking.join();
        }
        allCheck();
        allCheck();
        assertAllIsThere();
    }

    /** Noise has any byte, also that of a process that never held the port. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void whatNoiseEnteredForAProcessIsForgotten(int member) throws Exception {
        happens(Damage.NOISE_BEHIND_THE_START);
        table().owner(0, PORT & 0xffff, members.get(member).port.prefix());
        assertThat(table().enterService(SERVICE + 1, members.get(member).port.prefix(), true))
                .isTrue();
        allCheck();
        allCheck();
        assertAllIsThere();
        assertThat(table().services()).containsOnlyKeys(SERVICE);
        held.release();
        members.get(1).port.reserve(PORT).release();
    }

    /** Nobody misses anything then, but the process knows that it has no such port, and listens at no such service. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void whatDamageEnteredForAProcessIsForgottenThoughNothingIsMissing(int member)
            throws Exception {
        int prefix = members.get(member).port.prefix();
        table().owner(0, PORT & 0xffff, prefix);
        table().owner(2, 7, prefix);
        assertThat(table().enterService(SERVICE + 1, prefix, true)).isTrue();
        for (int i = 0; i < SharedTable.OWNER_PARTS; i++) {
            allCheck();
        }
        assertAllIsThere();
        assertThat(table().services()).containsOnlyKeys(SERVICE);
        assertThat(table().owner(2, 7)).isZero();
    }

    /** Those who listen, and hold ports, change the table and what they know of it one after the other. */
    @Test
    void whatProcessesChangeIsNotTakenForDamage() throws Exception {
        SharedPort port = members.getFirst().port;
        long key = table().key();
        int changes = port.mailboxes().changes();
        Thread checking = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                port.check();
            }
        });
        for (int i = 0; i < 300; i++) {
            port.listen(SERVICE + 2);
            PortSharing.Reservation reserved = port.reserve(PORT + 1);
            port.listenOnlyForRepetitions(SERVICE + 2);
            reserved.release();
            port.stopListening(SERVICE + 2);
        }
        checking.interrupt();
        checking.join();
        // Whoever restores the table announces its mailboxes.
        assertThat(port.mailboxes().changes()).isEqualTo(changes);
        assertThat(table().key()).isEqualTo(key);
    }

    @Test
    void aDamagedTableIsToldFromOneOfAnotherVersion() throws Exception {
        happens(Damage.ZEROS);
        // Nobody restores it: that of a stopped process.
        SharedPort late = SharedPort.open(name);
        assertThat(members.stream().map(member -> member.port.prefix()))
                .doesNotContain(late.prefix());
        late.close();
    }

    @Test
    void whatIsIntactIsNotEnteredAgain() throws Exception {
        SharedTable table = table();
        long key = table.key();
        int changes = members.getFirst().port.mailboxes().changes();
        allCheck();
        assertThat(table.key()).isEqualTo(key);
        assertThat(members.getFirst().port.mailboxes().changes()).isEqualTo(changes);
    }

    @Test
    void processesLearnOfMailboxesAfterTheCounterWasForgotten() throws Exception {
        happens(Damage.ZEROS);
        SharedPort late = SharedPort.open(name);
        allCheck();
        int before = late.mailboxes().changes();
        MailboxTable.Entry another = new MailboxTable.Entry(Gid.of(ADDRESS), 0,
                members.get(2).port.prefix(), ProcessHandle.current().pid(), 8, 1, 2, 3);
        assertThat(members.get(2).port.publish(another)).isTrue();
        assertThat(late.mailboxes().changes()).isNotEqualTo(before);
        late.close();
    }

    /** It is memory that was sealed: no access beyond its end can end a process. */
    @Test
    void nobodyCanTruncateIt() throws Exception {
        try (FileChannel file = FileChannel.open(looking.path(), StandardOpenOption.WRITE)) {
            assertThatIOException().isThrownBy(() -> file.truncate(4096));
        }
        allCheck();
        assertAllIsThere();
    }
}
