// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.verbs;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The verbs as applications call them. */
final class JavaCaller implements Caller {
    private static final int LENGTH = 64;

    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final SharedReceiveQueue shared;
    private final SendWorkRequest send;
    private final ReceiveWorkRequest receive;
    private final Map<Integer, List<SendWorkRequest>> sends = new HashMap<>();
    private final Map<Integer, List<ReceiveWorkRequest>> receives = new HashMap<>();
    private final Map<Integer, WorkCompletion[]> completions = new HashMap<>();
    private long numbers;

    /** @param depth how many requests may be outstanding */
    JavaCaller(DeviceContext context, int depth) throws RdmaException {
        ProtectionDomain domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(depth);
        shared = domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(depth));
        MemoryRegion region = domain.register(Arena.global().allocate(LENGTH),
                AccessFlag.LOCAL_WRITE);
        send = new SendWorkRequest().send().add(region, 0, LENGTH).set(SendFlag.SIGNALED);
        receive = new ReceiveWorkRequest().add(region, 0, LENGTH);
        queuePair = domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                .capabilities(new QueuePairCapabilities(depth, depth, 1, 1, 0)));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(1).accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(1).receivePsn(0).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
    }

    @Override
    public long sendLists(int length, int calls) throws RdmaException {
        List<SendWorkRequest> list = sends.computeIfAbsent(length,
                count -> new ArrayList<>(Collections.nCopies(count, send)));
        long begun = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            if (length == 1) {
                queuePair.postSend(send);
            } else {
                queuePair.postSend(list);
            }
        }
        return System.nanoTime() - begun;
    }

    @Override
    public long receiveLists(int length, int calls) throws RdmaException {
        List<ReceiveWorkRequest> list = receives(length);
        long begun = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            if (length == 1) {
                queuePair.postReceive(receive);
            } else {
                queuePair.postReceive(list);
            }
        }
        return System.nanoTime() - begun;
    }

    @Override
    public long sharedLists(int length, int calls) throws RdmaException {
        List<ReceiveWorkRequest> list = receives(length);
        long begun = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            if (length == 1) {
                shared.post(receive);
            } else {
                shared.post(list);
            }
        }
        return System.nanoTime() - begun;
    }

    private List<ReceiveWorkRequest> receives(int length) {
        return receives.computeIfAbsent(length,
                count -> new ArrayList<>(Collections.nCopies(count, receive)));
    }

    @Override
    public long polls(int most, int expected, int calls) throws RdmaException {
        WorkCompletion[] into = completions.computeIfAbsent(most, WorkCompletion::array);
        long begun = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            int found = queue.poll(into);
            if (found != expected) {
                throw new IllegalStateException(found + " completions instead of " + expected);
            }
            for (int k = 0; k < found; k++) {
                if (!into[k].isSuccess()) {
                    throw new IllegalStateException(into[k].toString());
                }
                numbers += into[k].id();
            }
        }
        return System.nanoTime() - begun;
    }

    /** {@return the sum of the numbers of all that completed} So the compiler leaves none away. */
    long numbers() {
        return numbers;
    }
}
