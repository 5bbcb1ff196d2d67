package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.io.IOException;

/** Latency of what the peer answers: READ, atomics. A server only waits. */
final class RequestLatency implements Course {
    @Override
    public void run(Session session) throws IOException {
        if (session.plan().isClient()) {
            for (long size : session.plan().sizes()) {
                session.report().print(size, measure(session, size));
            }
        }
        session.part();
    }

    private static Latencies measure(Session session, long size) throws IOException {
        Plan plan = session.plan();
        Span span = new Span(plan);
        Arrivals arrivals = session.arrivals(span);
        Latencies latencies = session.report().latencies(span);
        SendWorkRequest request = session.side().request(0, size).set(SendFlag.SIGNALED);
        span.begin();
        while (plan.isTimed() ? !span.isOver() : latencies.messages() < plan.iterations()) {
            latencies.onStart();
            session.side().queuePair(0).postSend(request);
            if (arrivals.take() > 0) {
                latencies.onEnd();
            }
        }
        return latencies;
    }
}
