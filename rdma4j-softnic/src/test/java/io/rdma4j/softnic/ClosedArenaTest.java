// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Arenas that are closed under traffic, as the JVM does it, and threads that have nothing to do with it. */
class ClosedArenaTest {
    private static final int LENGTH = 4 << 20;
    private static final int WRITES = 16;

    /** The bystander polls a queue of its own, and so drives the engine for the others. */
    @ParameterizedTest
    @EnumSource(value = Loopback.class, names = {"DIRECT", "NETWORK"})
    void nobodyIsLeftInterrupted(Loopback loopback) throws Exception {
        try (StressStage stage = new StressStage(DeviceOptions.DEFAULT.withLoopback(loopback));
                MemoryRegion source = stage.domain.register(stage.arena.allocate(LENGTH),
                        AccessFlag.LOCAL_WRITE);
                CompletionQueue own = stage.context.createCompletionQueue(16)) {
            AtomicInteger interrupted = new AtomicInteger();
            AtomicInteger closed = new AtomicInteger();
            stage.race.once("bystander", () -> {
                WorkCompletion completion = new WorkCompletion();
                while (!stage.race.isOver()) {
                    own.poll(completion);
                    countInterrupt(interrupted);
                }
            });
            stage.race.once("owner", () -> {
                Random random = new Random(5);
                // Once in any case: on a busy machine the race may be over before this thread runs.
                do {
                    closeUnderWrites(stage, source, random.nextInt(2_000_000));
                    countInterrupt(interrupted);
                    closed.incrementAndGet();
                } while (!stage.race.isOver());
            });
            stage.race.run();
            assertThat(closed.get()).isPositive();
            assertThat(interrupted).hasValue(0);
        }
    }

    private static void countInterrupt(AtomicInteger interrupted) {
        if (Thread.interrupted()) {
            interrupted.incrementAndGet();
        }
    }

    private static void closeUnderWrites(StressStage stage, MemoryRegion source, int afterNs)
            throws Exception {
        Arena brief = Arena.ofShared();
        try (CompletionQueue completions = stage.context.createCompletionQueue(2 * WRITES);
                QueuePair writer = stage.create(QueuePairType.RC, completions, completions, null);
                QueuePair written = stage.create(QueuePairType.RC, completions, completions, null);
                MemoryRegion target = stage.domain.register(brief.allocate(LENGTH),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            stage.connect(writer, written);
            stage.connect(written, writer);
            for (int i = 0; i < WRITES; i++) {
                writer.postSend(new SendWorkRequest().set(SendFlag.SIGNALED)
                        .write(target.address(), target.rkey()).add(source, 0, LENGTH));
            }
            long thenNs = System.nanoTime() + afterNs;
            while (System.nanoTime() < thenNs) {
                Thread.onSpinWait();
            }
            brief.close();
        }
    }
}
