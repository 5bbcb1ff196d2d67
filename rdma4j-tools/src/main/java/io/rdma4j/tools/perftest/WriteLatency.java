// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Latency of WRITE: either side waits for the last byte of the message to change, and writes back. The server begins.
 *
 * <p>A WRITE causes no completion at its target, so the sides poll memory, and also the completion queue, which drives
 * the device. The sides do not synchronize at the end.
 */
final class WriteLatency implements TestFlow {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    @Override
    public void measure(Session session) throws IOException {
        for (long size : session.plan().sizes()) {
            session.report().print(size, new PingPong(session, size).play());
        }
    }

    @Override
    public void part(Session session) throws IOException {
        session.channel().leave();
    }

    /** A message of one size, to and fro. */
    private static final class PingPong {
        private final Session session;
        private final Plan plan;
        private final TimeWindow window;
        private final CompletionReader completions;
        private final SendWorkRequest request;
        private final Latencies latencies;
        private final MemorySegment memory;
        private final long own;
        private final long peers;
        private long sent;
        private long completed;
        private long received;

        PingPong(Session session, long size) throws IOException {
            this.session = session;
            plan = session.plan();
            window = new TimeWindow(plan);
            completions = new CompletionReader(session, window);
            request = session.side().request(0, size).set(SendFlag.SIGNALED);
            latencies = session.report().latencies(window);
            memory = session.side().memory();
            own = session.side().sendOffset(0) + size - 1;
            peers = session.side().receiveOffset(0) + size - 1;
        }

        Latencies play() throws IOException {
            window.begin();
            while (isMore()) {
                if ((sent > 0 || plan.isClient()) && (plan.isTimed() || hasMoreToCome())) {
                    awaitPeer();
                }
                if (window.isOver()) {
                    break;
                }
                if (plan.isTimed() || sent < plan.iterations()) {
                    write();
                }
            }
            forget();
            return latencies;
        }

        /** Another measurement begins with the same numbers, and must not find them already. All have been read. */
        private void forget() {
            memory.set(ValueLayout.JAVA_BYTE, own, (byte) 0);
            memory.set(ValueLayout.JAVA_BYTE, peers, (byte) 0);
        }

        private boolean isMore() {
            return plan.isTimed() ? !window.isOver()
                    : sent < plan.iterations() || hasMoreToCome();
        }

        private boolean hasMoreToCome() {
            return received < plan.iterations();
        }

        private void awaitPeer() throws IOException {
            byte expected = (byte) (received + 1);
            long startNs = System.nanoTime();
            for (int looks = 1; (byte) BYTE.getVolatile(memory, peers) != expected; looks++) {
                if (window.isOver()) {
                    return;
                }
                completed += completions.poll();
                completions.pause(looks, startNs);
            }
            received++;
        }

        private void write() throws IOException {
            latencies.onStart();
            sent++;
            memory.set(ValueLayout.JAVA_BYTE, own, (byte) sent);
            session.side().queuePair(0).postSend(request);
            while (completed < sent && !window.isOver()) {
                completed += completions.take();
            }
            latencies.onEnd();
        }
    }
}
