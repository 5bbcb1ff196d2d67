// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.softnic.ContainedDefects;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** The engine carries queue pairs of any transport: here one without packets, ports or a connection manager. */
class ToyLinkTest {
    private static final int DEPTH = 64;
    private static final int SIZE = 256;

    private final AtomicLong clock = new AtomicLong(1);
    private final ToyLink link = new ToyLink();
    private final Engine engine = new Engine(new Random(1)::nextInt, link);
    private final EngineDriver driver = new EngineDriver(engine, clock::get, null, () -> {});
    private final MemoryTable memory = new MemoryTable(new Random(2)::nextInt);
    private final Side a = new Side(DEPTH);
    private final Side b = new Side(DEPTH);

    ToyLinkTest() {
        a.queuePair.join(b.queuePair);
    }

    /** One queue pair, its queues and what the application has of them. */
    private final class Side implements EngineQueuePair.Listener, CompletionRing.Listener {
        final SendRing sends = new SendRing(DEPTH, 1, 0, null);
        final ReceiveRing receives = new ReceiveRing(DEPTH, 1);
        final CompletionRing completions;
        final MemorySegment segment = Arena.ofAuto().allocate(SIZE);
        final RegisteredMemory region = new RegisteredMemory(memory.newKey(), this, segment,
                segment.address(), AccessFlag.LOCAL_WRITE.bit());
        final List<QueuePairState> states = new ArrayList<>();
        final List<AsyncEventType> events = new ArrayList<>();
        final ToyLink.QueuePair queuePair;
        int notifications;

        Side(int completionCapacity) {
            completions = new CompletionRing(completionCapacity, this, engine::timeNs, null, false);
            memory.put(region);
            queuePair = link.new QueuePair(engine,
                    new QueuePairQueues(sends, receives, completions, completions),
                    new DomainMemory(memory, this, 0, () -> {}), this);
        }

        void send(long id, String text) {
            segment.setString(0, text);
            sends.lock();
            Objects.requireNonNull(sends.free()).assign(new SendWorkRequest().id(id).send()
                    .add(segment.address(), SIZE, region.key()), true);
            sends.stage();
            sends.publish();
            sends.unlock();
            driver.ring(queuePair, EngineQueuePair.SEND_DOORBELL);
        }

        void receive(long id) {
            synchronized (receives) {
                assertThat(receives.post(new ReceiveWorkRequest().id(id).add(segment.address(),
                        SIZE, region.key()))).isTrue();
            }
            driver.ring(queuePair, EngineQueuePair.RECEIVE_DOORBELL);
        }

        String completed() {
            StringBuilder all = new StringBuilder();
            WorkCompletion completion = new WorkCompletion();
            while (completions.take(completion)) {
                all.append(completion.opcode()).append(' ').append(completion.id()).append(' ')
                        .append(completion.status()).append('\n');
            }
            return all.toString();
        }

        @Override
        public void onState(QueuePairState state) {
            states.add(state);
        }

        @Override
        public void onMoved(QueuePairState from, QueuePairState to, String cause) {}

        @Override
        public void onAsyncEvent(AsyncEventType type) {
            events.add(type);
        }

        @Override
        public boolean flush(MemorySegment flushed, long offset, long length, long ticket) {
            return false;
        }

        @Override
        public void onNotify() {
            notifications++;
        }

        @Override
        public void onAwaited() {}

        @Override
        public void onOverrun() {
            queuePair.fail(engine.timeNs());
        }

        @Override
        public void onModerated(CompletionRing ring) {
            engine.onModerated(ring);
        }
    }

    private void connect(Side one, Side other) {
        one.queuePair.join(other.queuePair);
    }

    @Test
    void messageArrivesAndBothSidesComplete() {
        b.receive(1);
        a.send(2, "hello");
        assertThat(a.completed()).isEqualTo("SEND 2 SUCCESS\n");
        assertThat(b.completed()).isEqualTo("RECEIVE 1 SUCCESS\n");
        assertThat(b.segment.getString(0)).isEqualTo("hello");
    }

    @Test
    void sendGoesWhenItsPeerPostsAReceive() {
        a.send(1, "later");
        assertThat(a.completed()).isEmpty();
        b.receive(2);
        assertThat(a.completed()).isEqualTo("SEND 1 SUCCESS\n");
        assertThat(b.segment.getString(0)).isEqualTo("later");
        assertThat(engine.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void sendFailsWhenItsDeadlineHasPassed() {
        a.send(1, "never");
        assertThat(engine.deadlineNs()).isEqualTo(clock.get() + ToyLink.PATIENCE_NS);
        clock.addAndGet(ToyLink.PATIENCE_NS - 1);
        driver.poll();
        assertThat(a.completed()).isEmpty();
        clock.addAndGet(1);
        driver.poll();
        assertThat(a.completed()).isEqualTo("SEND 1 RNR_RETRY_EXCEEDED_ERROR\n");
        assertThat(a.states).containsExactly(QueuePairState.ERR);
    }

    @Test
    void whatAFullLinkHasNotTakenGoesWhenItHasRoom() {
        link.room = 1;
        for (int i = 0; i < 3; i++) {
            b.receive(i);
            a.send(i, "message " + i);
        }
        assertThat(link.senders).hasSize(1);
        link.room = 2;
        driver.poll();
        assertThat(link.senders).hasSize(3);
    }

    @Test
    void queuePairsTakeTurns() {
        Side c = new Side(DEPTH);
        Side d = new Side(DEPTH);
        connect(c, d);
        link.room = 0;
        for (int i = 0; i < 40; i++) {
            b.receive(i);
            d.receive(i);
        }
        for (int i = 0; i < 40; i++) {
            a.send(i, "one");
        }
        for (int i = 0; i < 40; i++) {
            c.send(i, "other");
        }
        link.room = Integer.MAX_VALUE;
        driver.poll();
        assertThat(link.senders).hasSize(80);
        assertThat(link.senders.subList(0, 20)).contains(a.queuePair.number(),
                c.queuePair.number());
    }

    @Test
    void completionQueueWithoutRoomSaysSo() {
        Side small = new Side(1);
        connect(a, small);
        small.receive(1);
        small.receive(2);
        a.send(1, "fits");
        assertThat(small.states).isEmpty();
        a.send(2, "does not");
        assertThat(small.states).containsExactly(QueuePairState.ERR);
        assertThat(small.events).containsExactly(AsyncEventType.QP_FATAL);
    }

    @Test
    void moderatedNotificationComesWhenItIsDue() {
        b.completions.moderate(2, 5_000);
        b.completions.arm(false);
        b.receive(1);
        a.send(1, "one");
        assertThat(b.notifications).isZero();
        assertThat(engine.deadlineNs()).isEqualTo(clock.get() + 5_000);
        clock.addAndGet(5_000);
        driver.poll();
        assertThat(b.notifications).isOne();
    }

    @Test
    void defectFailsItsQueuePairAlone() {
        Side lonely = new Side(DEPTH);
        ContainedDefects log = ContainedDefects.listen();
        try {
            lonely.send(1, "to nobody");
        } finally {
            log.close();
        }
        assertThat(lonely.events).containsExactly(AsyncEventType.QP_FATAL);
        b.receive(1);
        a.send(2, "goes on");
        assertThat(b.completed()).isEqualTo("RECEIVE 1 SUCCESS\n");
    }

    @Test
    void detachedQueuePairSendsNoMore() {
        a.send(1, "waits");
        driver.run(nowNs -> engine.detach(a.queuePair));
        b.receive(2);
        assertThat(link.senders).isEmpty();
        assertThat(engine.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }
}
