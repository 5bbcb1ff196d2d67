// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;

import java.lang.foreign.Arena;

/**
 * Extended queues: a batch of requests posted at once ({@code ibv_wr_start}), and completions with a time stamp that are
 * read in place ({@code ibv_start_poll}).
 */
public final class ExtendedQueues {
    private ExtendedQueues() {}

    /** Takes the name of a device; {@code roce_lo} without one. */
    public static void main(String... words) throws RdmaException {
        String device = words.length > 0 ? words[0] : "roce_lo";
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find(device).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.register(arena.allocate(128), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE);
                ExtendedCompletionQueue queue = context.createExtendedCompletionQueue(
                        new CompletionQueueInitAttributes().capacity(16).fields(
                                CompletionField.BYTE_LENGTH, CompletionField.QUEUE_PAIR_NUMBER,
                                CompletionField.COMPLETION_TIMESTAMP));
                QueuePair left = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(queue).capabilities(QueuePairCapabilities.ofDepth(4, 4))
                        .sendOperations(SendOpcode.RDMA_WRITE, SendOpcode.SEND));
                QueuePair right = Lesson06.create(domain, queue)) {
            Lesson06.connect(left, right);
            right.postReceive(new ReceiveWorkRequest().id(3).add(region, 64, 32));
            try (SendBatch batch = left.startBatch()) {
                batch.id(1).flags(SendFlag.SIGNALED).write(region.address() + 96, region.rkey())
                        .add(region, 0, 8);
                batch.id(2).flags(SendFlag.SIGNALED).send().add(region, 0, 16);
                batch.post(); // both, or none
            }
            long last = 0;
            for (int done = 0; done < 3;) {
                if (!queue.startPoll()) {
                    continue;
                }
                do {
                    long now = queue.current().completionTimestamp();
                    System.out.println("completion of " + queue.current().id() + ": "
                            + queue.current().opcode() + " " + queue.current().status()
                            + ", time stamp " + (now >= last ? "later" : "earlier"));
                    last = now;
                    done++;
                } while (queue.nextPoll());
                queue.endPoll();
            }
        }
    }
}
