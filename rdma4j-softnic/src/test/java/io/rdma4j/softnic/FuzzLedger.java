// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What was posted and has not completed: each request completes once, those of one queue in order. */
final class FuzzLedger {
    private record Posted(long id, boolean isSignaled) {}

    private final Map<Integer, Deque<Posted>> sends = new HashMap<>();
    private final Map<Integer, Deque<Posted>> receives = new HashMap<>();
    private final Set<Long> sharedReceives = new HashSet<>();
    private long nextId;

    /** {@return an id for the next request} */
    long newId() {
        return ++nextId;
    }

    void postedSend(int queuePair, long id, boolean isSignaled) {
        queue(sends, queuePair).add(new Posted(id, isSignaled));
    }

    void postedReceive(int queuePair, long id) {
        queue(receives, queuePair).add(new Posted(id, true));
    }

    void postedShared(long id) {
        sharedReceives.add(id);
    }

    private static Deque<Posted> queue(Map<Integer, Deque<Posted>> queues, int queuePair) {
        return queues.computeIfAbsent(queuePair, number -> new ArrayDeque<>());
    }

    void completed(WorkCompletion completion) {
        boolean isReceive = completion.opcode() == WorkCompletionOpcode.RECEIVE
                || completion.opcode() == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
        if (isReceive && sharedReceives.remove(completion.id())) {
            return;
        }
        Deque<Posted> queue = queue(isReceive ? receives : sends, completion.queuePairNumber());
        Posted oldest = queue.poll();
        while (oldest != null && oldest.id != completion.id() && !oldest.isSignaled) {
            oldest = queue.poll();
        }
        if (oldest == null || oldest.id != completion.id()) {
            throw new AssertionError(completion + " where " + oldest + " was due");
        }
        if (!oldest.isSignaled && completion.isSuccess()) {
            throw new AssertionError(completion + " of a request that is not signaled");
        }
    }

    /** The queue pair was reset: what it had vanishes without completion. */
    void reset(int queuePair) {
        sends.remove(queuePair);
        receives.remove(queuePair);
    }

    /** Everything must have completed, but sends that succeeded and were not signaled. */
    void assertFlushed(int queuePair) {
        queue(sends, queuePair).removeIf(posted -> !posted.isSignaled);
        if (!queue(sends, queuePair).isEmpty() || !queue(receives, queuePair).isEmpty()) {
            throw new AssertionError("never completed: sends " + sends.get(queuePair)
                    + ", receives " + receives.get(queuePair));
        }
    }

    /** {@return shared receives that no queue pair has taken} */
    int sharedLeft() {
        return sharedReceives.size();
    }
}
