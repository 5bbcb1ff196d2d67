// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Everything at once: threads that post, take, make and close, on the same objects. */
final class StressCrowd implements AutoCloseable {
    private final StressStage stage;
    private final StressObjects objects;
    private final StressLedger ledger;
    private final StressPosting posters;
    private final AtomicLong working = new AtomicLong();
    private final AtomicBoolean isFlushing = new AtomicBoolean();

    StressCrowd(StressStage stage) throws RdmaException {
        this.stage = stage;
        objects = new StressObjects(stage);
        ledger = new StressLedger(objects.receiving);
        posters = new StressPosting(stage, objects, ledger);
    }

    void run() throws Exception {
        for (int i = 0; i < 3; i++) {
            Random random = new Random(i);
            poster("poster " + i, () -> posters.post(random));
        }
        poster("receiver", posters::postReceives);
        poster("queue pairs", this::churnQueuePair);
        Random sizes = new Random(7);
        poster("objects", () -> churnObjects(sizes));
        taker("single", () -> takeSingle(objects.sends));
        taker("array", () -> takeArray(objects.receives));
        taker("batch", () -> takeBatch(objects.sends));
        taker("events", this::awaitEvent);
        stage.race.once("end", this::end);
        stage.race.run();
        assertThat(objects.target.segment().mismatch(objects.source.segment())).isEqualTo(-1);
        ledger.check(objects.counter.segment().get(ValueLayout.JAVA_LONG, 0));
    }

    private void poster(String name, Race.Course course) {
        working.incrementAndGet();
        stage.race.once(name, () -> {
            while (!stage.race.isOver()) {
                course.run();
            }
            working.decrementAndGet();
        });
    }

    /** Takers go on until everything has been taken. */
    private void taker(String name, Race.Course course) {
        stage.race.once(name, () -> {
            while (!stage.race.hasFailed() && !isEnded()) {
                course.run();
            }
        });
    }

    private boolean isEnded() {
        return isFlushing.get() && ledger.openSends.isEmpty() && ledger.openReceives.isEmpty();
    }

    /** When no thread posts any more: all sends complete, then all receives are flushed. */
    private void end() throws Exception {
        Wait.until("all posters are done", () -> working.get() == 0 || stage.race.hasFailed(),
                StressStage::pause);
        ReceiveWorkRequest more = new ReceiveWorkRequest();
        Wait.until("all sends complete: " + ledger.openSends,
                () -> ledger.openSends.isEmpty() || stage.race.hasFailed(), () -> {
                    posters.topUp(more);
                    StressStage.pause();
                });
        isFlushing.set(true);
        for (QueuePair queuePair : objects.receiving) {
            StressStage.fail(queuePair);
        }
        for (QueuePair queuePair : objects.posting) {
            StressStage.fail(queuePair);
        }
        Wait.until("all receives complete",
                () -> ledger.openReceives.isEmpty() || stage.race.hasFailed(),
                StressStage::pause);
    }

    // ---------------------------------------------------------------- making and closing

    private void churnQueuePair() throws Exception {
        QueuePair queuePair = stage.create(QueuePairType.RC, objects.sends, objects.receives, null);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_WRITE));
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long id = stage.newId();
            ledger.openReceives.add(id);
            ids.add(id);
            queuePair.postReceive(new ReceiveWorkRequest().id(id));
        }
        StressStage.fail(queuePair);
        // Not more than the queue can hold.
        Wait.until("flushed receives are taken",
                () -> ids.stream().noneMatch(ledger.openReceives::contains)
                        || stage.race.hasFailed(),
                StressStage::pause);
        queuePair.close();
    }

    private void churnObjects(Random random) throws RdmaException {
        stage.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2).close();
        stage.domain.register(objects.source.segment(), AccessFlag.REMOTE_READ).close();
        stage.domain.createAddressHandle(stage.path()).close();
        stage.context.createCompletionQueue(16).close();
        stage.context.device().open().close();
        objects.sends.resize(1024 + random.nextInt(1024));
        objects.receives.moderate(random.nextInt(4),
                Duration.of(random.nextInt(100), ChronoUnit.MICROS));
        try {
            objects.shared.resize(
                    StressObjects.SHARED_DEPTH + random.nextInt(StressObjects.SHARED_DEPTH));
        } catch (RdmaException refused) {
            assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        }
        objects.shared.arm(0);
    }

    // ---------------------------------------------------------------- taking

    private void takeSingle(CompletionQueue queue) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        if (queue.poll(completion)) {
            ledger.taken(completion);
        }
    }

    private void takeArray(CompletionQueue queue) throws RdmaException {
        WorkCompletion[] completions = WorkCompletion.array(8);
        int count = queue.poll(completions);
        for (int i = 0; i < count; i++) {
            ledger.taken(completions[i]);
        }
    }

    private void takeBatch(ExtendedCompletionQueue queue) throws RdmaException {
        if (!queue.startPoll()) {
            return;
        }
        try {
            // Entries are free again at the end, so a batch must have one.
            int left = 16;
            do {
                ledger.taken(queue.current());
                left--;
            } while (left > 0 && queue.nextPoll());
        } finally {
            queue.endPoll();
        }
    }

    private void awaitEvent() throws RdmaException {
        objects.sends.requestNotification();
        objects.receives.requestNotification();
        CompletionQueue ready = objects.channel.pollEvent(Duration.ofMillis(5));
        if (ready != null) {
            ready.acknowledgeEvents(1);
            takeArray(ready);
        }
    }

    @Override
    public void close() throws RdmaException {
        objects.close();
    }
}
