// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.ibverbs.queue.NativeSharedReceiveQueue;
import io.rdma4j.testkit.ClosingRace;
import io.rdma4j.testkit.ClosingRace.Taking;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;

/**
 * One thread closes a native queue while another takes an event of it. Either the thread gets no event, or the queue stays open until
 * the event is acknowledged.
 */
@Timeout(120)
class ClosingQueuesRaceTest {
    private static final int ROUNDS = 2_000;

    private final FakeDriver driver = new FakeDriver();
    private final ClosingRace race = new ClosingRace();
    private NativeContext context;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws Exception {
        context = driver.open();
        domain = context.allocateProtectionDomain();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        race.close();
        domain.close();
        context.close();
        driver.close();
    }

    @Test
    void noThreadHoldsACompletionEventOfAClosedQueue() throws Exception {
        try (CompletionChannel channel = CompletionChannel.create()) {
            for (int round = 0; round < ROUNDS; round++) {
                NativeCompletionQueue queue = (NativeCompletionQueue) context
                        .createCompletionQueue(1, channel);
                queue.requestNotification();
                queue.onEvent();
                race.run(() -> {
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
            race.run(Taking.asyncEventOf(context), queuePair::close, round);
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
            race.run(Taking.asyncEventOf(context), queue::close, round);
        }
    }
}
