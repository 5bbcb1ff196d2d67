// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import static org.assertj.core.api.Assertions.assertThat;

/** Completion queues: sizes, vectors, channels, changing the size. */
public abstract class CompletionQueueConformance extends Conformance {
    /** Called by subclasses. */
    protected CompletionQueueConformance() {}

    private static int[] sizes(DeviceContext context) throws RdmaException {
        int largest = largest(context);
        return new int[]{1, largest / 2, largest};
    }

    static int largest(DeviceContext context) throws RdmaException {
        return Math.toIntExact(context.queryDevice().limit(DeviceLimit.MAX_CQE));
    }

    @ConformanceCase(after = "test_cq.create_cq")
    void everySizeAndVectorInRangeIsGiven() throws RdmaException {
        DeviceContext context = open();
        int vectors = context.queryDevice().completionVectors();
        for (int size : sizes(context)) {
            for (int vector = 0; vector < Math.min(2, vectors); vector++) {
                try (CompletionQueue queue = context
                        .createCompletionQueue(new CompletionQueueInitAttributes().capacity(size)
                                .userContext(this).completionVector(vector))) {
                    assertThat(queue.capacity()).isGreaterThanOrEqualTo(size);
                    assertThat(queue.userContext()).isSameAs(this);
                    assertThat(queue.context()).isSameAs(context);
                }
            }
        }
        keep(context.createCompletionQueue(
                new CompletionQueueInitAttributes().capacity(16).completionVector(vectors - 1)));
    }

    @ConformanceCase(after = "test_cq.create_cq_with_comp_channel")
    void everySizeIsGivenWithAChannel() throws RdmaException {
        DeviceContext context = open();
        for (int size : sizes(context)) {
            try (CompletionChannel channel = CompletionChannel.create();
                    CompletionQueue queue = context.createCompletionQueue(size, channel)) {
                assertThat(queue.channel()).isSameAs(channel);
                assertRefused(channel::close, Errno.EBUSY);
            }
        }
    }

    @ConformanceCase(after = "test_cq.create_cq_bad_flow")
    void sizesAndVectorsOutOfRangeAreRefused() throws RdmaException {
        DeviceContext context = open();
        int tooMany = largest(context) + 1;
        int noVector = context.queryDevice().completionVectors();
        assertRefused(() -> context.createCompletionQueue(tooMany), Errno.EINVAL,
                Integer.toString(tooMany));
        assertRefused(() -> context.createCompletionQueue(0), Errno.EINVAL, "0");
        assertRefused(
                () -> context.createCompletionQueue(new CompletionQueueInitAttributes()
                        .capacity(100).completionVector(noVector)),
                Errno.EINVAL, Integer.toString(noVector));
        assertRefused(
                () -> context.createCompletionQueue(
                        new CompletionQueueInitAttributes().capacity(100).completionVector(-1)),
                Errno.EINVAL);
    }

    @ConformanceCase(after = "test_cq.resize_cq")
    void queueShrinksOnlyToWhatItHolds() throws RdmaException {
        Players players = players(new PlayerSettings()
                .type(isIwarp() ? QueuePairType.RC : QueuePairType.UD)
                .with(own -> own.queue = (context, domain) -> context.createCompletionQueue(3)));
        players.server.queue.resize(7);
        CompletionQueue queue = players.client.queue;
        queue.resize(1);
        assertThat(queue.capacity()).isGreaterThanOrEqualTo(1);
        queue.resize(7);
        assertThat(queue.capacity()).isGreaterThanOrEqualTo(7);

        // Datagrams, and all messages of iWARP, complete in order when they are sent: once all have arrived, most
        // have completed.
        Player client = players.client;
        Player server = players.server;
        long[] receives = new long[6];
        long[] sends = new long[receives.length];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = server.receive(100);
        }
        for (int i = 0; i < sends.length; i++) {
            sends[i] = client.post(client.work(SendOpcode.SEND, 100));
        }
        for (int i = 0; i < receives.length; i++) {
            server.awaitSuccess(receives[i]);
        }
        assertRefused(() -> queue.resize(1), Errno.EINVAL, "1");
        for (long send : sends) {
            client.awaitSuccess(send);
        }
        queue.resize(1);
    }
}
