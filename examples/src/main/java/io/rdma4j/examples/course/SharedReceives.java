// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;

/** Receives shared by two queue pairs (SRQ), and the asynchronous events that tell of it. */
public final class SharedReceives {
    private SharedReceives() {}

    /** Uses {@code roce_lo}, whatever the words. */
    public static void main(String... words) throws RdmaException {
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.register(arena.allocate(256),
                        AccessFlag.LOCAL_WRITE);
                CompletionQueue sends = context.createCompletionQueue(16);
                CompletionQueue receives = context.createCompletionQueue(16);
                SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(16)); // 10
                QueuePair left1 = Lesson06.create(domain, sends);
                QueuePair left2 = Lesson06.create(domain, sends);
                QueuePair right1 = sharing(shared, receives);
                QueuePair right2 = sharing(shared, receives)) {
            Lesson06.connect(left1, right1);
            Lesson06.connect(left2, right2);
            for (int i = 1; i <= 4; i++) {
                shared.post(new ReceiveWorkRequest().id(i).add(region, i * 32L, 32)); // 11
            }
            shared.arm(3); // 12
            for (QueuePair left : new QueuePair[]{left1, left2}) {
                left.postSend(new SendWorkRequest().send().add(region, 0, 8));
                WorkCompletion completion = new WorkCompletion();
                while (!receives.poll(completion)) {
                    Thread.onSpinWait();
                }
                System.out.println("receive " + completion.id() + " of the queue went to "
                        + (completion.queuePairNumber() == right1.number() ? "one" : "two"));
            }
            show(context); // 13
            right1.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            show(context); // 14
        }
    }

    private static QueuePair sharing(SharedReceiveQueue shared, CompletionQueue receives)
            throws RdmaException {
        return shared.protectionDomain().createQueuePair(new QueuePairInitAttributes()
                .completionQueue(receives).sharedReceiveQueue(shared)
                .capabilities(QueuePairCapabilities.ofDepth(4, 0)));
    }

    private static void show(DeviceContext context) throws RdmaException {
        try (AsyncEvent event = context.asyncEventChannel().awaitEvent()) {
            System.out.println("asynchronous event: " + event.type());
        }
    }
}
