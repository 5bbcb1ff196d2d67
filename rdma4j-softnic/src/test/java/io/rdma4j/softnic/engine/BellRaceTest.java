package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.cm.CmSettings;
import io.rdma4j.protocol.cm.ConnectionManager;
import io.rdma4j.protocol.queue.QueuePairProtocol;
import io.rdma4j.protocol.queue.SendRequest;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.softnic.Race;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.softnic.rim.SimulatedNetwork;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads that post, poll and change things at the same moment, with no thread in the background. */
@Tag("stress")
class BellRaceTest {
    private final Engine engine = new Engine(new SimulatedNetwork(1).rim(),
            new ConnectionManager(CmSettings.defaults(1), () -> 1), new Numbers()::next,
            ring -> {});
    private final EngineDriver driver = new EngineDriver(engine, System::nanoTime, null, () -> {});

    private static final class Numbers {
        private int last = 100;

        int next() {
            return ++last;
        }
    }

    /** A queue pair that knows how much was posted, and how much of it the engine has heard of. */
    private final class Posted implements QueuePairProtocol, EngineQueuePair.Listener {
        /** Written before a bell is rung, by several threads under the monitor; the bell must bring it. */
        private long count;
        /** Written by the engine's owner alone. */
        private long heard;
        final EngineQueuePair queuePair;

        Posted() {
            CompletionRing completions = new CompletionRing(1, new CompletionRing.Listener() {
                @Override
                public void onNotify() {}

                @Override
                public void onModerated(CompletionRing ring) {}
            }, () -> 0, null, false);
            queuePair = new EngineQueuePair(engine, engine.newQueuePairNumber(), Opcode.Service.RC,
                    new SendRing(1, 1, 0, null), new ReceiveRing(1, 1), completions, completions,
                    this, host -> this);
            engine.attach(queuePair);
        }

        void post(int bell) {
            synchronized (this) {
                count++;
            }
            driver.ring(queuePair, bell);
        }

        @Override
        public void onSendPosted(long nowNs) {
            synchronized (this) {
                heard = count;
            }
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
        public boolean wantsReceiveBell() {
            return true;
        }

        @Override
        public boolean pollTransmit(OutgoingPacket out, long nowNs) {
            return false;
        }

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
        public boolean invalidate(int rkey) {
            return false;
        }
    }

    @Test
    void noBellIsLost() throws Exception {
        List<Posted> queuePairs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queuePairs.add(new Posted());
        }
        Race race = new Race();
        boolean[] isEnded = {false};
        // When all have come back, nobody is left who could answer a bell.
        CyclicBarrier turns = new CyclicBarrier(4, () -> {
            queuePairs.forEach(Posted::assertHeard);
            isEnded[0] = race.isOver();
        });
        for (int poster = 0; poster < 2; poster++) {
            int number = poster;
            race.once("poster " + poster, () -> {
                for (int i = number; !isEnded[0]; i++) {
                    queuePairs.get(i % 3).post(i % 5 == 0
                            ? EngineQueuePair.RECEIVE_BELL
                            : EngineQueuePair.SEND_BELL);
                    turns.await();
                }
            });
        }
        race.once("poller", () -> {
            while (!isEnded[0]) {
                driver.poll();
                turns.await();
            }
        });
        race.once("changer", () -> {
            while (!isEnded[0]) {
                driver.run(nowNs -> {});
                turns.await();
            }
        });
        race.run();
    }
}
