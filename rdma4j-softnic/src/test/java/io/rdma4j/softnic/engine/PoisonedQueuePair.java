// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;

import java.lang.foreign.MemorySegment;

/** A queue pair that stops its engine: each round throws an error that nothing contains, and so does failing it. */
public final class PoisonedQueuePair extends EngineQueuePair implements QueuePairProtocol {
    private PoisonedQueuePair(Engine engine) {
        super(engine, engine.newQueuePairNumber(), queues(), new Unheard());
    }

    /** Gives an engine such a queue pair. */
    public static void poison(EngineDriver driver) {
        driver.run(nowNs -> {
            PoisonedQueuePair poison = new PoisonedQueuePair(driver.engine());
            driver.engine().attach(poison);
            driver.engine().touched(poison);
        });
    }

    private static QueuePairQueues queues() {
        CompletionRing completions = new CompletionRing(1, new CompletionRing.Listener() {
            @Override
            public void onNotify() {}

            @Override
            public void onAwaited() {}

            @Override
            public void onOverrun() {}

            @Override
            public void onModerated(CompletionRing ring) {}
        }, () -> 0, null, false);
        return new QueuePairQueues(new SendRing(1, 1, 0, null), new ReceiveRing(1, 1), completions,
                completions);
    }

    private static final class Unheard implements Listener {
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
    public long deadlineNs() {
        return Long.MIN_VALUE + 1;
    }

    @Override
    public void onDeadline(long nowNs) {
        engine().touched(this);
        throw new AssertionError("poison");
    }

    @Override
    public void fail(long nowNs) {
        throw new AssertionError("poison");
    }

    @Override
    public void onSendPosted(long nowNs) {}

    @Override
    public void onReceivePosted(long nowNs) {}

    @Override
    public QueuePairState state() {
        return QueuePairState.RTS;
    }

    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs) {}

    @Override
    public void query(QueuePairAttributes into) {}

    @Override
    public boolean wantsReceiveDoorbell() {
        return true;
    }
}
