package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;

/** Latency of SEND: a message goes to and fro, and the client begins. */
final class SendLatency implements Course {
    @Override
    public void run(Session session) throws IOException {
        for (long size : session.plan().sizes()) {
            Rally rally = new Rally(session, size);
            session.meet();
            session.report().print(size, rally.play());
        }
        session.part();
    }

    /** A message of one size, to and fro. */
    private static final class Rally {
        private final Session session;
        private final Plan plan;
        private final Span span;
        private final Arrivals arrivals;
        private final Receiver receiver;
        private final SendWorkRequest request;
        private final Latencies latencies;
        private long sent;
        private long completed;

        Rally(Session session, long size) throws IOException {
            this.session = session;
            plan = session.plan();
            span = new Span(plan);
            arrivals = session.arrivals(span);
            receiver = new Receiver(session.side(), plan, size, span);
            request = session.side().request(0, size).set(SendFlag.SIGNALED);
            latencies = session.report().latencies(span);
        }

        Latencies play() throws IOException {
            long ahead = plan.isClient() ? 1 : 0;
            while (isMore()) {
                if (mayPost(ahead)) {
                    latencies.onStart();
                    session.side().queuePair(0).postSend(request);
                    sent++;
                }
                takeSome();
            }
            return latencies;
        }

        private boolean isMore() {
            if (plan.isTimed()) {
                return !span.isOver();
            }
            return receiver.received() < plan.iterations() || completed < plan.iterations();
        }

        private boolean mayPost(long ahead) {
            return sent - completed < plan.sendDepth() && sent < receiver.received() + ahead
                    && (plan.isTimed() || sent < plan.iterations());
        }

        private void takeSome() throws IOException {
            int count = arrivals.take();
            for (int i = 0; i < count; i++) {
                WorkCompletion completion = arrivals.get(i);
                if (Receiver.isReceive(completion)) {
                    // Counts it for the span, too.
                    receiver.onCompletion(completion);
                } else {
                    completed++;
                }
            }
            if (plan.isTimed()) {
                span.tick();
            }
        }
    }
}
