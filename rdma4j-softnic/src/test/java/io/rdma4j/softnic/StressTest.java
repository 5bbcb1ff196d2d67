// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads at once on shared objects of the real loopback device: no completion is lost or comes twice,
 * what arrives is what was sent, nothing hangs, and no exception comes but those that are promised.
 */
@Tag("stress")
class StressTest {
    private final StressStage stage = new StressStage();

    StressTest() throws RdmaException {}

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        stage.close();
    }

    @Test
    void manyThreadsOnSharedObjectsLoseNothingAndSeeNothingTwice() throws Exception {
        try (StressCrowd crowd = new StressCrowd(stage)) {
            crowd.run();
        }
    }

    // ---------------------------------------------------------------- the end of a queue pair

    @Test
    void whatIsPostedWhileTheQueuePairFailsCompletesOnce() throws Exception {
        StressSuccession succession = new StressSuccession(stage);
        succession.run(succession::failAndFlush);
    }

    @Test
    void whoeverPostsToAQueuePairThatIsBeingClosedIsToldSo() throws Exception {
        StressSuccession succession = new StressSuccession(stage);
        succession.run(succession::closeAtOnce);
    }

    // ---------------------------------------------------------------- the end of a region

    @Test
    void closedRegionsAreNotWrittenAnyMore() throws Exception {
        CompletionQueue completions = stage.context.createCompletionQueue(4 * StressStage.DEPTH);
        QueuePair writer = stage.create(QueuePairType.UC, completions, completions, null);
        QueuePair written = stage.create(QueuePairType.UC, completions, completions, null);
        stage.connect(writer, written);
        stage.connect(written, writer);
        AtomicLong writes = new AtomicLong();
        AtomicLong arrivals = new AtomicLong();
        long[] where = new long[2];
        AtomicBoolean isEnded = new AtomicBoolean();
        stage.race.once("writer", () -> {
            SendWorkRequest request = new SendWorkRequest();
            WorkCompletion completion = new WorkCompletion();
            while (!isEnded.get() && !stage.race.hasFailed()) {
                synchronized (where) {
                    request.clear().write(where[0], (int) where[1]).set(SendFlag.SIGNALED)
                            .inline(MemorySegment.ofArray(new byte[64]));
                }
                writer.postSend(request);
                Wait.until("the write",
                        () -> stage.race.hasFailed() || take(completions, completion));
                writes.incrementAndGet();
            }
        });
        stage.race.once("owner", () -> {
            while (!stage.race.isOver()) {
                try (Arena shortLived = Arena.ofShared()) {
                    MemorySegment memory = shortLived.allocate(64, 64).fill((byte) 1);
                    MemoryRegion region = stage.domain.register(memory, AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE);
                    synchronized (where) {
                        where[0] = region.address();
                        where[1] = region.rkey();
                    }
                    passWrites(writes, 3);
                    region.close();
                    arrivals.addAndGet(memory.get(ValueLayout.JAVA_BYTE, 0) == 0 ? 1 : 0);
                    memory.fill((byte) 2);
                    passWrites(writes, 3);
                    for (int i = 0; i < 64; i++) {
                        assertThat(memory.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 2);
                    }
                }
            }
            isEnded.set(true);
        });
        stage.race.run();
        assertThat(arrivals.get()).isPositive();
        writer.close();
        written.close();
        completions.close();
    }

    private static boolean take(CompletionQueue completions, WorkCompletion completion) {
        try {
            return completions.poll(completion);
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    private void passWrites(AtomicLong writes, int count) throws Exception {
        long wanted = writes.get() + count;
        Wait.until("writes", () -> writes.get() >= wanted || stage.race.hasFailed());
    }
}
