// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/** A program with a thousand connected pairs, each of which exchanges a message while all live. */
final class ThousandPairs {
    private static final int PAIRS = 1000;
    private static final int LENGTH = 1000;

    private ThousandPairs() {}

    public static void main(String[] arguments) throws Exception {
        List<QueuePair> queuePairs = new ArrayList<>();
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4 * PAIRS);
                MemoryRegion region = domain.register(arena.allocate(LENGTH, 64),
                        AccessFlag.LOCAL_WRITE)) {
            for (int i = 0; i < 2 * PAIRS; i++) {
                queuePairs.add(domain.createQueuePair(
                        new QueuePairInitAttributes().completionQueue(completions)));
            }
            for (int i = 0; i < 2 * PAIRS; i++) {
                connect(context, queuePairs.get(i), queuePairs.get(i ^ 1));
            }
            for (int i = 0; i < 2 * PAIRS; i += 2) {
                queuePairs.get(i + 1).postReceive(
                        new ReceiveWorkRequest().id(i + 1).add(region, 0, LENGTH));
                queuePairs.get(i).postSend(new SendWorkRequest().id(i).send()
                        .add(region, 0, LENGTH).set(SendFlag.SIGNALED));
            }
            boolean[] isComplete = new boolean[2 * PAIRS];
            WorkCompletion completion = new WorkCompletion();
            for (int left = 2 * PAIRS; left > 0;) {
                if (completions.poll(completion)) {
                    int id = (int) completion.id();
                    if (!completion.isSuccess() || isComplete[id]) {
                        throw new IllegalStateException(completion.toString());
                    }
                    isComplete[id] = true;
                    left--;
                }
            }
            for (QueuePair queuePair : queuePairs) {
                queuePair.close();
            }
        }
    }

    private static void connect(DeviceContext context, QueuePair own, QueuePair peer)
            throws RdmaException {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(peer.number()).receivePsn(5)
                .maxDestinationReadAtomic(128).minRnrTimerCode(12));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(16)
                .retryCount(7)
                .rnrRetry(7).sendPsn(5).maxReadAtomic(128));
    }
}
