// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.ibverbs.queue.NativeSharedReceiveQueue;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One thread closes a native queue while another takes an event of it. Either the thread gets no event, or the queue stays open until
 * the event is acknowledged.
 */
@Timeout(120)
class ClosingQueuesRaceTest {
    private static final int ROUNDS = 2_000;

    private final FakeDriver driver = new FakeDriver();
    private final ExecutorService taker = Executors.newSingleThreadExecutor();
    private NativeContext context;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws Exception {
        context = driver.open();
        domain = context.allocateProtectionDomain();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        taker.shutdown();
        domain.close();
        context.close();
        driver.close();
    }

    /** Takes an event. {@return what acknowledges it, null if there is none} */
    private interface Taking {
        @Nullable
        Runnable take() throws RdmaException;
    }

    private interface Closing {
        void close() throws RdmaException;
    }

    private @Nullable Runnable takeAsyncEvent() throws RdmaException {
        AsyncEvent event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        return event == null ? null : event::acknowledge;
    }

    private void race(Taking taking, Closing closing, int round) throws Exception {
        CyclicBarrier begin = new CyclicBarrier(2);
        CountDownLatch done = new CountDownLatch(1);
        Future<Boolean> taken = taker.submit(() -> {
            begin.await();
            spin(round % 50);
            Runnable acknowledgement = taking.take();
            assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
            if (acknowledgement != null) {
                acknowledgement.run();
            }
            return acknowledgement != null;
        });
        boolean isClosed = false;
        begin.await();
        spin(round / 50 % 50);
        try {
            closing.close();
            isClosed = true;
        } catch (RdmaException e) {
            assertThat(e.errno()).isEqualTo(Errno.EBUSY);
            assertThat(e).hasMessageContaining("1 event(s) are not acknowledged");
        } finally {
            done.countDown();
        }
        assertThat(taken.get(20, TimeUnit.SECONDS)).as("taken in round %d", round)
                .isNotEqualTo(isClosed);
        closing.close();
    }

    private static void spin(int turns) {
        for (int i = 0; i < 20 * turns; i++) {
            Thread.onSpinWait();
        }
    }

    @Test
    void noThreadHoldsACompletionEventOfAClosedQueue() throws Exception {
        try (CompletionChannel channel = CompletionChannel.create()) {
            for (int round = 0; round < ROUNDS; round++) {
                NativeCompletionQueue queue = (NativeCompletionQueue) context
                        .createCompletionQueue(1, channel);
                queue.requestNotification();
                queue.onEvent();
                race(() -> {
                    CompletionQueue found = channel.pollEvent(Duration.ZERO);
                    return found == null ? null : () -> found.acknowledgeEvents(1);
                }, queue::close, round);
            }
        }
    }

    @Test
    void noThreadHoldsAnEventOfAClosedQueuePair() throws Exception {
        CompletionQueue completions = context.createCompletionQueue(1);
        for (int round = 0; round < ROUNDS; round++) {
            NativeQueuePair queuePair = (NativeQueuePair) domain
                    .createQueuePair(new QueuePairInitAttributes().completionQueue(completions)
                            .capabilities(new QueuePairCapabilities(1, 1, 1, 1, 0)));
            queuePair.onAsyncEvent(AsyncEventType.QP_FATAL);
            race(this::takeAsyncEvent, queuePair::close, round);
        }
        completions.close();
    }

    @Test
    void noThreadHoldsAnEventOfAClosedSharedReceiveQueue() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            NativeSharedReceiveQueue queue = (NativeSharedReceiveQueue) domain
                    .createSharedReceiveQueue(
                            new SharedReceiveQueueInitAttributes().maxRequests(1));
            queue.onAsyncEvent(AsyncEventType.SRQ_LIMIT_REACHED);
            race(this::takeAsyncEvent, queue::close, round);
        }
    }
}
