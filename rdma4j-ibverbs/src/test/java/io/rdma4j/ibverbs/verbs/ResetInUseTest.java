// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.work.OutstandingWork;
import io.rdma4j.ibverbs.work.WorkLedger;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** Queues that are reset, or polled wrongly, while there is work in them. */
class ResetInUseTest {
    private static final int DEPTH = 4;
    private static final int ROUNDS = 2_000;

    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private QueuePair ready() throws RdmaException {
        NativeContext context = driver.open();
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(context.createCompletionQueue(16))
                        .capabilities(new QueuePairCapabilities(DEPTH, DEPTH, 2, 2, 16)));
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    @Test
    void resetWaitsForAPostThatIsRefused() throws Exception {
        QueuePair queuePair = ready();
        Thread resetting = new Thread(() -> {
            try {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        driver.postAnswer = Errno.ENOMEM.number();
        driver.whilePosting = () -> {
            resetting.start();
            Wait.until("the other thread waits or is through",
                    () -> resetting.getState() == Thread.State.WAITING || !resetting.isAlive());
        };
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> queuePair.postSend(new SendWorkRequest()));
        resetting.join();
        driver.whilePosting = () -> {};
        driver.postAnswer = 0;
        FakeDriver.ready(queuePair);
        queuePair.postSend(Collections.nCopies(DEPTH, new SendWorkRequest()));
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> queuePair.postSend(new SendWorkRequest()));
        driver.completeAll();
        assertThat(queuePair.sendCompletionQueue().poll(WorkCompletion.array(8)))
                .isEqualTo(DEPTH);
    }

    /** A completion that is being taken does not bring back what the reset has ended. */
    @Test
    void nothingIsOutstandingAfterAResetWhateverIsPolled() throws Exception {
        OutstandingWork work = new OutstandingWork(DEPTH);
        AtomicLong toComplete = new AtomicLong(-1);
        AtomicInteger rounds = new AtomicInteger();
        Thread polling = Thread.ofPlatform().start(() -> {
            WorkLedger.Completed completed = new WorkLedger.Completed();
            while (rounds.get() < ROUNDS) {
                long number = toComplete.get();
                if (number >= 0) {
                    work.complete(number, completed);
                    toComplete.set(-1);
                    rounds.incrementAndGet();
                }
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            long number = work.note(0, i, WorkCompletionOpcode.SEND, true);
            work.commit(DEPTH);
            toComplete.set(number);
            work.clear();
            Wait.until("the completion was taken", () -> toComplete.get() < 0);
            assertThat(work.isOutstanding()).isFalse();
            assertThat(work.hasRoom(DEPTH + 1)).isFalse();
        }
        polling.join();
    }

    @Test
    void arrayWithoutPlacesLosesNoCompletion() throws RdmaException {
        QueuePair queuePair = ready();
        CompletionQueue queue = queuePair.sendCompletionQueue();
        queuePair.postSend(Collections.nCopies(3, new SendWorkRequest()));
        driver.posted.forEach(
                request -> driver.complete(Native.getLong(request, SendRequest.WR_ID), 0, 0));
        WorkCompletion[] places = WorkCompletion.array(4);
        WorkCompletion[] fewer = places.clone();
        Arrays.fill(fewer, 2, 4, null);
        assertThatNullPointerException().isThrownBy(() -> queue.poll(fewer))
                .withMessageContaining("completions[2] is null");
        assertThat(queue.poll(places)).isEqualTo(3);
    }

    @Test
    void moderationBeyondItsBitsIsRefused() throws RdmaException {
        int[] asked = new int[1];
        driver.operation(ContextOperation.MODIFY_CQ, arguments -> {
            asked[0]++;
            return 0;
        });
        CompletionQueue queue = driver.open().createCompletionQueue(4);
        for (int[] wrong : new int[][]{{0x1_0000, 1}, {1, 0x1_0000}, {-1, 1}, {1, -1}}) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> queue.moderate(wrong[0],
                            Duration.of(wrong[1], ChronoUnit.MICROS)))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
        assertThat(asked[0]).isZero();
        queue.moderate(0xffff, Duration.of(0xffff, ChronoUnit.MICROS));
        assertThat(asked[0]).isOne();
    }
}
