// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.FlushOutcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class FileFlusherTest {
    private static final int LENGTH = 8192;

    private final List<FlushOutcome> outcomes = new ArrayList<>();

    private static MemorySegment map(Path folder, Arena arena) throws Exception {
        try (FileChannel channel = FileChannel.open(folder.resolve("mapped"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
        }
    }

    @Test
    void anotherThreadWritesAndTells(@TempDir Path folder) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            CompletableFuture<Thread> teller = new CompletableFuture<>();
            assertThat(FileFlusher.inThread("flush").flush(map(folder, arena), 0, LENGTH,
                    outcome -> {
                        outcomes.add(outcome);
                        teller.complete(Thread.currentThread());
                    })).isTrue();
            assertThat(teller.get(60, TimeUnit.SECONDS).getName()).isEqualTo("flush");
            assertThat(outcomes).containsExactly(FlushOutcome.DONE);
        }
    }

    @Test
    void closedArenaIsToldApart(@TempDir Path folder) throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment mapped = map(folder, arena);
        arena.close();
        assertThat(new FileFlusher(Runnable::run).flush(mapped, 0, LENGTH, outcomes::add))
                .isTrue();
        assertThat(outcomes).containsExactly(FlushOutcome.MEMORY_GONE);
    }

    @Test
    void whatCannotBeWrittenHasFailed() {
        try (Arena arena = Arena.ofShared()) {
            new FileFlusher(Runnable::run).flush(arena.allocate(LENGTH), 0, LENGTH,
                    outcomes::add);
            assertThat(outcomes).containsExactly(FlushOutcome.FAILED);
        }
    }

    @Test
    void callerIsToldIfTheSystemGivesNoThread() {
        FileFlusher flusher = new FileFlusher(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertThat(flusher.flush(MemorySegment.NULL, 0, 0, outcomes::add)).isFalse();
        assertThat(outcomes).isEmpty();
    }
}
