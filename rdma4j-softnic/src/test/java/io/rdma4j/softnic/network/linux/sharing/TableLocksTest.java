// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Who waits for the lock for changes, and for how long. */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class TableLocksTest {
    private static final long AT_ONCE_NS = 1_000_000;
    private static final long FOR_EVER_NS = Long.MAX_VALUE / 2;

    private final Arena memory = Arena.ofShared();
    private final AtomicInteger looks = new AtomicInteger();
    @TempDir
    private Path folder = Path.of("unset");
    private Path file = Path.of("unset");

    @BeforeEach
    void fileIsMade() throws Exception {
        file = Files.createFile(folder.resolve("port4791-test"));
    }

    @AfterEach
    void memoryIsFreed() {
        memory.close();
    }

    private TableLocks locks(long stoppedNs, long mostNs) throws Exception {
        return new Watched(new TableLocks.Patience(stoppedNs, mostNs));
    }

    /** Counts the questions who has the lock. */
    private final class Watched extends TableLocks {
        Watched(Patience patience) throws LinuxSocket.Refused {
            super(file, patience);
        }

        @Override
        long holder() {
            looks.incrementAndGet();
            return super.holder();
        }
    }

    @Test
    void aSlowHolderIsWaitedFor() throws Exception {
        try (TableLocks slow = locks(AT_ONCE_NS, FOR_EVER_NS);
                TableLocks waiting = locks(AT_ONCE_NS, FOR_EVER_NS)) {
            slow.lock();
            CompletableFuture<Void> turn = CompletableFuture.runAsync(() -> {
                try {
                    waiting.lock();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
                waiting.unlock();
            });
            Wait.until("the other has looked whether this process is stopped",
                    () -> looks.get() > 1);
            assertThat(turn).isNotDone();
            slow.unlock();
            turn.join();
        }
    }

    @Test
    void aHolderThatIsStoppedIsNamed() throws Exception {
        Process stopped = new ProcessBuilder("sleep", "60").start();
        try (TableLocks held = locks(AT_ONCE_NS, FOR_EVER_NS);
                TableLocks waiting = locks(AT_ONCE_NS, FOR_EVER_NS)) {
            assertThat(ProcessFiles.isStopped(ProcessIdentity.inThisNamespace(stopped.pid())))
                    .isFalse();
            new ProcessBuilder("kill", "-STOP", Long.toString(stopped.pid())).start().waitFor();
            held.lock();
            write(ProcessIdentity.inThisNamespace(stopped.pid()));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(waiting::lock)
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT))
                    .withMessageContaining("process " + stopped.pid() + " is stopped while it"
                            + " changes " + SharedTable.NAME + ": let it go on, or end it");
            held.unlock();
        } finally {
            stopped.destroyForcibly().waitFor();
        }
    }

    private void write(long process) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder())
                    .putLong(process).flip(), SharedTable.HOLDER_AT);
        }
    }

    @Test
    void aHolderThatNeverEndsIsNamedInTheEnd() throws Exception {
        try (TableLocks held = locks(AT_ONCE_NS, 50 * AT_ONCE_NS);
                TableLocks waiting = locks(AT_ONCE_NS, 50 * AT_ONCE_NS)) {
            held.lock();
            assertThatExceptionOfType(RdmaException.class).isThrownBy(waiting::lock)
                    .withMessageContaining("process " + ProcessHandle.current().pid()
                            + " has been changing " + SharedTable.NAME + " for too long");
            held.unlock();
            waiting.lock();
            waiting.unlock();
        }
    }

    @Test
    void nobodyIsTakenForStoppedWhoIsNotThere() {
        assertThat(ProcessFiles.isStopped(0)).isFalse();
        assertThat(ProcessFiles.isStopped(Long.MAX_VALUE)).isFalse();
        assertThat(ProcessFiles.isStopped(ProcessIdentity.own())).isFalse();
    }

    /** The lock of the file is not counted: the inner call to unlock would end it under the outer one. */
    @Test
    void aThreadLocksOnce() throws Exception {
        TableLocks locks = locks(FOR_EVER_NS, FOR_EVER_NS);
        locks.lock();
        assertThatExceptionOfType(AssertionError.class).isThrownBy(locks::lock);
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> locks.tryLock(AT_ONCE_NS));
        locks.unlock();
        locks.lock();
        locks.unlock();
        locks.close();
    }
}
