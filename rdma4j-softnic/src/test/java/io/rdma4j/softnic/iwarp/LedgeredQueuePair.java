// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
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
import io.rdma4j.verbs.WorkCompletion;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/** A queue pair of a test, with a completion queue of its own; it knows what was posted and has not completed. */
final class LedgeredQueuePair {
    private static final int DEPTH = 8;

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final WorkCompletion completion = new WorkCompletion();
    /** Each with whether it completes also if it succeeds. */
    private final Map<Long, Boolean> outstanding = new HashMap<>();
    private long posted;

    LedgeredQueuePair(SoftDeviceContext context, ProtectionDomain domain, InetAddress address)
            throws RdmaException {
        completions = context.createCompletionQueue(2 * DEPTH);
        queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .completionQueue(completions)
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
        context.bringUp(address).applyTo(queuePair);
    }

    QueuePair queuePair() {
        return queuePair;
    }

    void post(SendWorkRequest request) throws RdmaException {
        queuePair.postSend(request.id(posted));
        outstanding.put(posted++, request.has(SendFlag.SIGNALED));
    }

    void receive(MemoryRegion into, int length) throws RdmaException {
        queuePair.postReceive(new ReceiveWorkRequest().id(posted).add(into, 0, length));
        outstanding.put(posted++, true);
    }

    void takeCompletions() throws RdmaException {
        while (completions.poll(completion)) {
            Boolean isSignaled = outstanding.remove(completion.id());
            if (isSignaled == null) {
                throw new AssertionError(completion + " was not posted, or has completed");
            }
            if (!isSignaled && completion.isSuccess()) {
                throw new AssertionError(completion + " did not ask for a completion");
            }
        }
    }

    void fail() throws RdmaException {
        if (queuePair.state() != QueuePairState.RESET) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
    }

    /** Forgets what it has not completed. */
    void reset() throws RdmaException {
        takeCompletions();
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        outstanding.clear();
        if (completions.poll(completion)) {
            throw new AssertionError(completion + " came by the reset");
        }
    }

    void assertNothingOutstanding() {
        if (outstanding.containsValue(true)) {
            throw new AssertionError("not completed: " + outstanding + " in " + queuePair.state());
        }
    }

    void close() throws RdmaException {
        queuePair.close();
        completions.close();
    }
}
