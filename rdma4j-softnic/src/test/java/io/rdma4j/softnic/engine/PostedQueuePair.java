package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair that knows how much was posted, and how much of it the engine has heard of. */
final class PostedQueuePair implements QueuePairProtocol, EngineQueuePair.Listener {
    /** Written before a bell is rung, by several threads under the monitor; the bell must bring it. */
    private long count;
    /** Written by the engine's owner alone. */
    private long heard;
    private Runnable whenHeard = () -> {};
    private Runnable whenAsked = () -> {};
    private final Engine engine;
    private final EngineDriver driver;
    private final EngineQueuePair queuePair;

    PostedQueuePair(Engine engine, EngineDriver driver) {
        this.engine = engine;
        this.driver = driver;
        CompletionRing completions = new CompletionRing(1, new CompletionRing.Listener() {
            @Override
            public void onNotify() {}

            @Override
            public void onAwaited() {}

            @Override
            public void onModerated(CompletionRing ring) {}
        }, () -> 0, null, false);
        queuePair = new EngineQueuePair(engine, engine.newQueuePairNumber(), Opcode.Service.RC,
                new SendRing(1, 1, 0, null), new ReceiveRing(1, 1), completions, completions,
                this, host -> this);
        engine.attach(queuePair);
    }

    int number() {
        return queuePair.number();
    }

    void post(int bell) {
        synchronized (this) {
            count++;
        }
        driver.ring(queuePair, bell);
    }

    /** It may have packets to send. */
    void touch() {
        engine.touched(queuePair);
    }

    /** Does something each time the engine hears of a request, as its owner. */
    void whenHeard(Runnable action) {
        whenHeard = action;
    }

    /** Does something each time the engine asks for a packet, as its owner. */
    void whenAsked(Runnable action) {
        whenAsked = action;
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
    public void route(Path path) {}

    @Override
    public void query(QueuePairAttributes into) {}

    @Override
    public void onPacket(PacketView packet, long nowNs) {}

    @Override
    public boolean wantsReceiveDoorbell() {
        return true;
    }

    @Override
    public boolean pollTransmit(OutgoingPacket out, long nowNs) {
        whenAsked.run();
        return false;
    }

    @Override
    public void onPayloadGone() {}

    @Override
    public long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public void onDeadline(long nowNs) {}

    @Override
    public void onState(QueuePairState state) {}

    @Override
    public void onAsyncEvent(AsyncEventType type) {}

    @Override
    public WorkCompletionStatus carryOut(SendRequest request) {
        return WorkCompletionStatus.SUCCESS;
    }

    @Override
    public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
        return false;
    }

    @Override
    public boolean invalidate(int rkey) {
        return false;
    }
}
