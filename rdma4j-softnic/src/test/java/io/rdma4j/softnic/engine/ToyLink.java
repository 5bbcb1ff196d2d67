// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The smallest transport there can be: a SEND is copied from the memory of one queue pair into that of its peer, in the same
 * engine. No packet, no port, no number but the queue pair's. A SEND that finds no receive request for
 * {@link #PATIENCE_NS} fails.
 */
final class ToyLink extends QuietLink {
    static final long PATIENCE_NS = 1_000_000;

    /** Messages that it carries before it is full. */
    int room = Integer.MAX_VALUE;
    /** The number of the sender of each message, in the order they went. */
    final List<Integer> senders = new ArrayList<>();

    @Override
    public boolean isFull() {
        return room == 0;
    }

    @Override
    public boolean beginTransmit(long nowNs) {
        return room > 0;
    }

    /** A queue pair of this transport. */
    final class QueuePair extends EngineQueuePair implements QueuePairProtocol {
        private final QueuePairQueues queues;
        private final Memory memory;
        private final ReceiveDetails details = new ReceiveDetails();
        private @Nullable QueuePair peer;
        private @Nullable ReceiveRequest receive;
        private QueuePairState state = QueuePairState.RTS;
        private long oldest;
        private long patienceEndsNs = Long.MAX_VALUE;

        QueuePair(Engine engine, QueuePairQueues queues, Memory memory, Listener listener) {
            super(engine, engine.newQueuePairNumber(), queues, listener);
            this.queues = queues;
            this.memory = memory;
            engine.attach(this);
        }

        /** Says who gets what the other sends. */
        void join(QueuePair other) {
            peer = other;
            other.peer = this;
        }

        @Override
        public QueuePairProtocol protocol() {
            return this;
        }

        @Override
        protected int transmit(int most) {
            int sent = 0;
            while (state == QueuePairState.RTS && sent < most && room > 0
                    && oldest < queues.sends().end()
                    && send(queues.sends().request(oldest))) {
                sent++;
                room--;
            }
            return sent;
        }

        /** {@return whether it has gone} */
        private boolean send(SendRequest request) {
            QueuePair to = peer;
            if (to == null || !to.takeReceive()) {
                patienceEndsNs = Math.min(patienceEndsNs, engine().timeNs() + PATIENCE_NS);
                return false;
            }
            patienceEndsNs = Long.MAX_VALUE;
            boolean isGathered = request.gather(0, (int) request.length(), memory, to::append);
            if (!isGathered) {
                fail(request, WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                return false;
            }
            to.endReceive();
            oldest++;
            senders.add(number());
            sendCompleted(request, WorkCompletionStatus.SUCCESS, 0);
            return true;
        }

        private void fail(SendRequest request, WorkCompletionStatus status) {
            state = QueuePairState.ERR;
            patienceEndsNs = Long.MAX_VALUE;
            oldest++;
            sendCompleted(request, status, 0);
            stateChanged(state);
        }

        // ---------------------------------------------------------------- the receiving side

        private long arrived;

        private boolean takeReceive() {
            if (receive == null) {
                receive = queues.receives().take();
                arrived = 0;
            }
            return receive != null;
        }

        private void append(MemorySegment source, long offset, int length) {
            ReceiveRequest into = receive;
            if (into != null
                    && into.scatter(arrived, source, offset, length, memory) == CopyOutcome.DONE) {
                arrived += length;
            }
        }

        private void endReceive() {
            ReceiveRequest done = receive;
            receive = null;
            if (done != null) {
                receiveCompleted(done, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE,
                        arrived, details.clear());
            }
        }

        // ---------------------------------------------------------------- what the engine calls

        @Override
        public QueuePairState state() {
            return state;
        }

        @Override
        public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs) {
            state = next;
        }

        @Override
        public void query(QueuePairAttributes into) {}

        @Override
        public void onSendPosted(long nowNs) {
            if (peer == null) {
                throw new IllegalStateException("it has no peer");
            }
        }

        @Override
        public void onReceivePosted(long nowNs) {
            QueuePair sender = peer;
            if (sender != null) {
                engine().touched(sender);
            }
        }

        @Override
        public boolean wantsReceiveDoorbell() {
            return true;
        }

        @Override
        public long deadlineNs() {
            return patienceEndsNs;
        }

        @Override
        public void onDeadline(long nowNs) {
            fail(queues.sends().request(oldest), WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
        }
    }
}
