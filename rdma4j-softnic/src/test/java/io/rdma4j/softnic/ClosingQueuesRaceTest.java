// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.verbs.SoftCompletionQueue;
import io.rdma4j.softnic.verbs.SoftQueuePair;
import io.rdma4j.testkit.ClosingRace;
import io.rdma4j.testkit.ClosingRace.Taking;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One thread closes a queue while another takes an event of it. Either the thread gets no event, or the queue stays open until the
 * event is acknowledged.
 */
@Timeout(120)
class ClosingQueuesRaceTest {
    private static final int ROUNDS = 3_000;

    private final ClosingRace race = new ClosingRace();
    private final DeviceContext context;
    private final ProtectionDomain domain;

    ClosingQueuesRaceTest() throws Exception {
        context = new Pair(new Pair.Settings()).a.node.context;
        domain = context.allocateProtectionDomain();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        race.close();
        domain.close();
        assertThat(context.asyncEventChannel().pollEvent(Duration.ZERO)).isNull();
    }

    @Test
    void noThreadHoldsACompletionEventOfAClosedQueue() throws Exception {
        try (CompletionChannel channel = CompletionChannel.create()) {
            for (int round = 0; round < ROUNDS; round++) {
                CompletionQueue queue = context.createCompletionQueue(1, channel);
                ((SoftCompletionQueue) queue).onNotify();
                race.run(() -> {
                    CompletionQueue found = channel.pollEvent(Duration.ZERO);
                    return found == null ? null : () -> found.acknowledgeEvents(1);
                }, queue::close, round);
            }
        }
    }

    @Test
    void noThreadHoldsAnAsynchronousEventOfAClosedCompletionQueue() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            CompletionQueue queue = context.createCompletionQueue(1);
            ((SoftCompletionQueue) queue).onOverrun();
            race.run(Taking.asyncEventOf(context), queue::close, round);
        }
    }

    @Test
    void noThreadHoldsAnEventOfAClosedQueuePair() throws Exception {
        CompletionQueue completions = context.createCompletionQueue(1);
        for (int round = 0; round < ROUNDS; round++) {
            SoftQueuePair queuePair = (SoftQueuePair) domain
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
            SharedReceiveQueue queue = domain.createSharedReceiveQueue(
                    new SharedReceiveQueueInitAttributes().maxRequests(1));
            queue.arm(1);
            race.run(Taking.asyncEventOf(context), queue::close, round);
        }
    }

    /** A queue that is refused the end because of one kind of event keeps those of the other kind. */
    @Test
    void queueThatCannotBeClosedKeepsTheEventsThatWait() throws Exception {
        try (CompletionChannel channel = CompletionChannel.create()) {
            SoftCompletionQueue queue = (SoftCompletionQueue) context.createCompletionQueue(1,
                    channel);
            queue.onNotify();
            queue.onOverrun();
            Runnable overrun = Taking.asyncEventOf(context).take();
            assertThat(overrun).isNotNull();
            assertThat(catchErrno(queue::close)).isEqualTo(Errno.EBUSY);
            assertThat(channel.pollEvent(Duration.ZERO)).isSameAs(queue);
            overrun.run();
            assertThat(catchErrno(queue::close)).isEqualTo(Errno.EBUSY);
            queue.acknowledgeEvents(1);
            queue.close();
        }
    }

    private static @Nullable Errno catchErrno(ClosingRace.Closing closing) {
        try {
            closing.close();
            return null;
        } catch (RdmaException e) {
            return e.errno();
        }
    }
}
