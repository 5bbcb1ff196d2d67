// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What was posted and has not completed, and what must have come of it in the end; for many threads. */
final class StressLedger {
    final Set<Long> openSends = ConcurrentHashMap.newKeySet();
    final Set<Long> openReceives = ConcurrentHashMap.newKeySet();
    final Set<Long> openShared = ConcurrentHashMap.newKeySet();
    private final AtomicLong additions = new AtomicLong();
    private final AtomicLong reliableMessages = new AtomicLong();
    private final AtomicLong reliableArrivals = new AtomicLong();
    private final Set<Integer> reliableReceivers = ConcurrentHashMap.newKeySet();

    StressLedger(List<QueuePair> receiving) {
        for (QueuePair queuePair : receiving) {
            if (queuePair.type() == QueuePairType.RC) {
                reliableReceivers.add(queuePair.number());
            }
        }
    }

    /** A request is about to be posted. */
    void posted(SendWorkRequest request, QueuePair queuePair) {
        openSends.add(request.id());
        if (consumesReceive(request, queuePair)) {
            reliableMessages.incrementAndGet();
        }
        if (request.opcode() == SendOpcode.ATOMIC_FETCH_AND_ADD) {
            additions.incrementAndGet();
        }
    }

    /** It was refused. */
    void unposted(SendWorkRequest request, QueuePair queuePair) {
        openSends.remove(request.id());
        if (consumesReceive(request, queuePair)) {
            reliableMessages.decrementAndGet();
        }
        if (request.opcode() == SendOpcode.ATOMIC_FETCH_AND_ADD) {
            additions.decrementAndGet();
        }
    }

    private static boolean consumesReceive(SendWorkRequest request, QueuePair queuePair) {
        return queuePair.type() == QueuePairType.RC && (request.opcode() == SendOpcode.SEND
                || request.opcode() == SendOpcode.SEND_WITH_IMMEDIATE);
    }

    /** A completion was taken. */
    void taken(WorkCompletion completion) {
        boolean isReceive = completion.opcode() == WorkCompletionOpcode.RECEIVE;
        long id = completion.id();
        if (isReceive) {
            boolean isSuccess = completion.isSuccess();
            assertThat(isSuccess
                    || completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED)
                    .as(completion.toString()).isTrue();
            if (isSuccess && reliableReceivers.contains(completion.queuePairNumber())) {
                reliableArrivals.incrementAndGet();
            }
            assertThat(openReceives.remove(id) || openShared.remove(id))
                    .as("%s is open", completion).isTrue();
        } else {
            assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
            assertThat(openSends.remove(id)).as("%s is open", completion).isTrue();
        }
    }

    /** When everything has completed: what was sent reliably has arrived, each addition was made once. */
    void check(long sum) {
        assertThat(sum).isEqualTo(additions.get());
        assertThat(reliableArrivals.get()).isEqualTo(reliableMessages.get()).isPositive();
    }
}
