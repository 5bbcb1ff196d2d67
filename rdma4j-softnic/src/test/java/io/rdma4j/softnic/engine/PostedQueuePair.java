// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair that knows how much was posted, and how much of it the engine has taken. */
final class PostedQueuePair extends EngineQueuePair implements QueuePairProtocol {
    /** Written before a doorbell is rung, by several threads under the monitor; the doorbell must bring it. */
    private long count;
    /** Written by the engine's owner alone. */
    private long heard;
    private Runnable whenHeard = () -> {};
    private Runnable whenAsked = () -> {};
    private @Nullable Error whenSettled;
    private final EngineDriver driver;

    PostedQueuePair(Engine engine, EngineDriver driver) {
        super(engine, engine.newQueuePairNumber(), queues(), new Unheard());
        this.driver = driver;
        engine.attach(this);
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
        whenAsked.run();
        return 0;
    }

    void post(int doorbell) {
        synchronized (this) {
            count++;
        }
        driver.ring(this, doorbell);
    }

    /** It may have packets to send. */
    void touch() {
        engine().touched(this);
    }

    /** Does something each time the engine takes a request, as its owner. */
    void whenHeard(Runnable action) {
        whenHeard = action;
    }

    /** Does something each time the engine asks for a packet, as its owner. */
    void whenAsked(Runnable action) {
        whenAsked = action;
    }

    /** Throws each time the engine looks what has changed; null to stop that. */
    void whenSettled(@Nullable Error thrown) {
        whenSettled = thrown;
    }

    @Override
    public void onSendPosted(long nowNs) {
        synchronized (this) {
            heard = count;
        }
        whenHeard.run();
    }

    @Override
    public void onReceivePosted(long nowNs) {
        onSendPosted(nowNs);
    }

    synchronized void assertHeard() {
        assertThat(heard).isEqualTo(count);
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
    public boolean wantsReceiveDoorbell() {
        if (whenSettled != null) {
            throw whenSettled;
        }
        return true;
    }

    @Override
    public long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public void onDeadline(long nowNs) {}
}
