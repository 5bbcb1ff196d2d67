// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.QuietCompletions;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;

import java.lang.foreign.MemorySegment;

/** A queue pair that is ready to send, has nothing to send, and waits for nothing. A test overrides what it is about. */
public abstract class QuietQueuePair extends EngineQueuePair implements QueuePairProtocol {
    QuietQueuePair(Engine engine) {
        super(engine, engine.newQueuePairNumber(), queues(), new Unheard());
    }

    /** {@return queues for one request each} */
    public static QueuePairQueues queues() {
        CompletionRing completions = new CompletionRing(1, new QuietCompletions(), () -> 0, null,
                false);
        return new QueuePairQueues(new SendRing(1, 1, 0, null), new ReceiveRing(1, 1), completions,
                completions);
    }

    /** For a queue pair whose states nobody asks for. */
    public static final class Unheard implements Listener {
        @Override
        public void onState(QueuePairState state) {}

        @Override
        public void onMoved(QueuePairState from, QueuePairState to, String cause) {}

        @Override
        public void onAsyncEvent(AsyncEventType type) {}

        @Override
        public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
            return false;
        }
    }

    @Override
    public QueuePairProtocol protocol() {
        return this;
    }

    @Override
    protected int transmit(int most) {
        return 0;
    }

    @Override
    public QueuePairState state() {
        return QueuePairState.RTS;
    }

    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs) {}

    @Override
    public void query(QueuePairAttributes into) {}

    @Override
    public void onSendPosted(long nowNs) {}

    @Override
    public void onReceivePosted(long nowNs) {}

    @Override
    public boolean wantsReceiveDoorbell() {
        return true;
    }

    @Override
    public long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public void onDeadline(long nowNs) {}
}
