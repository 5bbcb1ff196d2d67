// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;

/** Latency of SEND: a message goes back and forth, and the client begins. */
final class SendLatency implements TestFlow {
    @Override
    public void measure(Session session) throws IOException {
        for (long size : session.plan().sizes()) {
            PingPong pingPong = new PingPong(session, size);
            session.meet();
            session.report().print(size, pingPong.play());
        }
    }

    /** A message of one size, to and fro. */
    private static final class PingPong {
        private final Session session;
        private final Plan plan;
        private final TimeWindow window;
        private final CompletionReader completions;
        private final Receiver receiver;
        private final SendWorkRequest request;
        private final Latencies latencies;
        private long sent;
        private long completed;

        PingPong(Session session, long size) throws IOException {
            this.session = session;
            plan = session.plan();
            window = new TimeWindow(plan);
            completions = new CompletionReader(session, window);
            receiver = new Receiver(session.side(), plan, size, window);
            request = session.side().request(0, size).set(SendFlag.SIGNALED);
            latencies = session.report().latencies(window);
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
            return !window.isOver() && (plan.isTimed() || isMoreToCome());
        }

        private boolean isMoreToCome() {
            return receiver.received() < plan.iterations() || completed < plan.iterations();
        }

        private boolean mayPost(long ahead) {
            return sent - completed < plan.sendDepth() && sent < receiver.received() + ahead
                    && (plan.isTimed() || sent < plan.iterations());
        }

        private void takeSome() throws IOException {
            int count = completions.take();
            for (int i = 0; i < count; i++) {
                WorkCompletion completion = completions.get(i);
                if (Receiver.isReceive(completion)) {
                    // Counts it for the span, too.
                    receiver.onCompletion(completion);
                } else {
                    completed++;
                }
            }
            if (plan.isTimed()) {
                window.tick();
            }
        }
    }
}
