// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.io.IOException;

/** Latency of operations with a response: READ, atomics. A server only waits. */
final class RequestLatency implements TestFlow {
    @Override
    public void measure(Session session) throws IOException {
        if (session.plan().isClient()) {
            for (long size : session.plan().sizes()) {
                session.report().print(size, measure(session, size));
            }
        }
    }

    private static Latencies measure(Session session, long size) throws IOException {
        Plan plan = session.plan();
        TimeWindow window = new TimeWindow(plan);
        CompletionReader completions = new CompletionReader(session, window);
        Latencies latencies = session.report().latencies(window);
        SendWorkRequest request = session.side().request(0, size).set(SendFlag.SIGNALED);
        window.begin();
        while (plan.isTimed() ? !window.isOver() : latencies.messages() < plan.iterations()) {
            latencies.onStart();
            session.side().queuePair(0).postSend(request);
            if (completions.take() > 0) {
                latencies.onEnd();
            }
        }
        return latencies;
    }
}
