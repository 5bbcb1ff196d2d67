// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.calls.UnixSocket;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How processes find the table that they share, and who hands it to them. */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class TableSocketTest {
    private static final AtomicInteger TESTS = new AtomicInteger();
    /** Shorter than usual: nobody answers in these tests. */
    private static final long PATIENCE_NS = 600_000_000;

    private final String name = "rdma4j-test-socket-" + ProcessHandle.current().pid() + "-"
            + TESTS.incrementAndGet();
    private final List<TableSocket> joined = new ArrayList<>();

    @AfterEach
    void allIsClosed() {
        joined.forEach(TableSocket::close);
    }

    private TableSocket join() throws Exception {
        TableSocket next = TableSocket.join(name, PATIENCE_NS);
        synchronized (joined) {
            joined.add(next);
        }
        return next;
    }

    private void leave(TableSocket who) {
        joined.remove(who);
        who.close();
    }

    private static long table(TableSocket of) throws Exception {
        return ProcessFiles.inode(of.pages().descriptor());
    }

    @Test
    void whoComesLaterGetsTheSameTable() throws Exception {
        SharedTable first = new SharedTable(join().pages().map(0, SharedTable.LENGTH));
        SharedTable second = new SharedTable(join().pages().map(0, SharedTable.LENGTH));
        first.clear();
        assertThat(second.isBegun()).isTrue();
        assertThat(second.key()).isEqualTo(first.key());
    }

    @Test
    void whoeverIsLeftAnswers() throws Exception {
        TableSocket first = join();
        TableSocket second = join();
        TableSocket third = join();
        long table = table(third);
        leave(first);
        leave(second);
        assertThat(table(join())).isEqualTo(table);
        leave(third);
        assertThat(table(join())).isEqualTo(table);
    }

    @Test
    void theTableEndsWithTheLastWhoHasIt() throws Exception {
        leave(join());
        TableSocket next = join();
        assertThat(new SharedTable(next.pages().map(0, SharedTable.LENGTH)).isBegun()).isFalse();
    }

    @Test
    void whoStartsAtTheSameTimeGetsTheSameTable() throws Exception {
        List<CompletableFuture<Long>> starting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            starting.add(CompletableFuture.supplyAsync(() -> {
                try {
                    return table(join());
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }, task -> Thread.ofPlatform().start(task)));
        }
        assertThat(starting.stream().map(CompletableFuture::join).distinct()).hasSize(1);
    }

    @Test
    void whoIsOfAnotherUserGetsAndIsGivenNothing() throws Exception {
        int own = ProcessFiles.effectiveUser();
        assertThat(new UnixSocket.Peer(7, own).isOfThisUser()).isTrue();
        assertThat(new UnixSocket.Peer(7, own + 1).isOfThisUser()).isFalse();
    }

    @Test
    void theOtherEndIsKnown() throws Exception {
        try (UnixSocket listening = Objects.requireNonNull(UnixSocket.listen(name));
                UnixSocket connected = UnixSocket.connect(name, PATIENCE_NS);
                UnixSocket accepted = Objects.requireNonNull(listening.accept())) {
            UnixSocket.Peer own = new UnixSocket.Peer(
                    Math.toIntExact(ProcessHandle.current().pid()),
                    ProcessFiles.effectiveUser());
            assertThat(connected.peer()).isEqualTo(own);
            assertThat(accepted.peer()).isEqualTo(own);
        }
    }

    /** Something that listens at the name, and answers each connection in its own way. */
    private CompletableFuture<Void> answering(UnixSocket listening, UnixSocket.Message answer) {
        return CompletableFuture.runAsync(() -> {
            try {
                UnixSocket next = listening.accept();
                while (next == null) {
                    Thread.onSpinWait();
                    next = listening.accept();
                }
                next.send(answer);
                next.close();
            } catch (LinuxSocket.Refused e) {
                throw new AssertionError(e);
            }
        });
    }

    /**
     * For want of a descriptor, for example: whoever waits to be accepted makes each sleep end at once. Here it is a socket
     * that does not listen.
     */
    @Test
    void whoCannotAcceptRests() throws Exception {
        UnixSocket.Message message = new UnixSocket.Message(7, 0, 0);
        try (UnixSocket listening = Objects.requireNonNull(UnixSocket.listen(name));
                UnixSocket connected = UnixSocket.connect(name, PATIENCE_NS);
                TableAnswers answers = new TableAnswers(
                        Objects.requireNonNull(listening.accept()), message)) {
            long beginNs = System.nanoTime();
            connected.send(message);
            Wait.until("it has tried four times", () -> answers.rests() >= 4);
            assertThat(System.nanoTime() - beginNs).isGreaterThan(250_000_000);
        }
    }

    /** For want of a thread or of a descriptor; who asks meanwhile finds the table otherwise. */
    @Test
    void whoCannotAnswerYetDoesSoLater() throws Exception {
        AtomicBoolean isShort = new AtomicBoolean(true);
        UnixSocket.Message message = new UnixSocket.Message(7, 5, 0);
        try (TableAnswers answers = new TableAnswers(
                Objects.requireNonNull(UnixSocket.listen(name)), message,
                ShortOfThreads.during(isShort::get))) {
            isShort.set(false);
            answers.tryToStart();
            try (UnixSocket connected = UnixSocket.connect(name, PATIENCE_NS)) {
                UnixSocket.Message answer = Objects.requireNonNull(connected.receive());
                assertThat(answer.number()).isEqualTo(5);
            }
            answers.tryToStart();
        }
    }

    @Test
    void processesOfAnotherVersionAreNamed() throws Exception {
        try (UnixSocket other = Objects.requireNonNull(UnixSocket.listen(name))) {
            CompletableFuture<Void> answered = answering(other,
                    new UnixSocket.Message(TableSocket.TABLE, 77, ProcessIdentity.own(),
                            other.descriptor()));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(this::join)
                    .withMessageContaining("process " + ProcessHandle.current().pid()
                            + " shares it by the rules of another version of rdma4j (77, not "
                            + SharedTable.VERSION + "): end it, or use the same version")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
            answered.join();
        }
    }

    @Test
    void anotherProgramThatHasTheNameIsNamed() throws Exception {
        try (UnixSocket other = Objects.requireNonNull(UnixSocket.listen(name))) {
            CompletableFuture<Void> answered = answering(other,
                    new UnixSocket.Message(7, SharedTable.VERSION, 0));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(this::join)
                    .withMessageContaining("process " + ProcessHandle.current().pid() + " of user ")
                    .withMessageContaining("has the name")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
            answered.join();
        }
    }

    @Test
    void whatIsNoTableIsRefused() throws Exception {
        try (UnixSocket other = Objects.requireNonNull(UnixSocket.listen(name));
                SharedPages pages = SharedPages.create("rdma4j-test", 4096)) {
            CompletableFuture<Void> answered = answering(other,
                    new UnixSocket.Message(TableSocket.TABLE, SharedTable.VERSION,
                            ProcessIdentity.own(), pages.descriptor(), other.descriptor()));
            assertThatExceptionOfType(LinuxSocket.Refused.class).isThrownBy(this::join);
            answered.join();
        }
    }

    @Test
    void whoNeverAnswersIsNotWaitedForLong() throws Exception {
        try (UnixSocket _ = Objects.requireNonNull(UnixSocket.listen(name))) {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(this::join)
                    .withMessageContaining("do not answer")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        }
    }

    /** Processes that do not answer, and have a table among their files. */
    private final class Stopped {
        private final UnixSocket listening = Objects.requireNonNull(UnixSocket.listen(name));
        private final SharedPages pages = SharedPages.create(TableSocket.memoryName(name),
                SharedTable.LENGTH);

        Stopped() throws LinuxSocket.Refused {}

        void end() {
            listening.close();
            pages.close();
        }
    }

    @Test
    void theTableOfThoseWhoDoNotAnswerIsFoundAmongTheirFiles() throws Exception {
        Stopped stopped = new Stopped();
        TableSocket late = join();
        assertThat(table(late)).isEqualTo(ProcessFiles.inode(stopped.pages.descriptor()));
        // They still do not answer, and then are gone.
        assertThat(late.check()).isTrue();
        stopped.end();
        assertThat(late.check()).isTrue();
        assertThat(table(join())).isEqualTo(table(late));
        assertThat(UnixSocket.listen(name)).isNull();
    }

    @Test
    void whoGotTheTableOtherwiseGetsTheSocketLater() throws Exception {
        Stopped stopped = new Stopped();
        TableSocket first = join();
        TableSocket second = join();
        stopped.end();
        assertThat(first.check()).isTrue();
        assertThat(second.check()).isTrue();
        leave(first);
        assertThat(table(join())).isEqualTo(table(second));
    }

    /** Between the end of those who had the name and the next check of those who have their table, it is free. */
    @Test
    void whoGetsTheNameGetsTheTableOfThoseWhoFoundItOtherwise() throws Exception {
        Stopped stopped = new Stopped();
        TableSocket late = join();
        TableSocket later = join();
        stopped.end();
        TableSocket other = join();
        assertThat(table(other)).isEqualTo(table(late)).isEqualTo(table(later));
        assertThat(late.check()).isTrue();
        assertThat(later.check()).isTrue();
        leave(other);
        assertThat(table(join())).isEqualTo(table(late));
        assertThat(UnixSocket.listen(TableSocket.secondName(name))).as("nobody needs it any more")
                .isNotNull().satisfies(UnixSocket::close);
    }

    @Test
    void whoHasTheNameAndIsNotAnsweredAtTheSecondLooksAmongTheFiles() throws Exception {
        Stopped stopped = new Stopped();
        stopped.listening.close();
        try (UnixSocket _ = Objects.requireNonNull(
                UnixSocket.listen(TableSocket.secondName(name)))) {
            assertThat(table(join())).isEqualTo(ProcessFiles.inode(stopped.pages.descriptor()));
        }
        stopped.pages.close();
    }

    @Test
    void aTableThatOthersFindInsteadIsNoticed() throws Exception {
        Stopped stopped = new Stopped();
        TableSocket late = join();
        stopped.end();
        try (SharedPages pages = SharedPages.create("rdma4j-test", SharedTable.LENGTH)) {
            UnixSocket listener = Objects.requireNonNull(UnixSocket.listen(name));
            try (TableAnswers _ = new TableAnswers(listener,
                    new UnixSocket.Message(TableSocket.TABLE, SharedTable.VERSION,
                            ProcessIdentity.own(), pages.descriptor(), listener.descriptor()))) {
                assertThat(late.check()).isFalse();
            }
        }
    }
}
