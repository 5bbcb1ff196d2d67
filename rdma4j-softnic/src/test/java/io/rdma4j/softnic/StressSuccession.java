// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** One queue pair after another, and two threads that post to the latest. */
final class StressSuccession {
    private final StressStage stage;
    private final CompletionQueue completions;
    private final CyclicBarrier turns = new CyclicBarrier(3);
    private final Set<Long> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private QueuePair peer;
    private volatile QueuePair current;
    private volatile boolean isEnded;
    private volatile boolean isStopped;

    StressSuccession(StressStage stage) throws RdmaException {
        this.stage = stage;
        completions = stage.context.createCompletionQueue(1024);
        peer = stage.create(QueuePairType.RC, completions, completions, null);
        current = newPeerOfPeer();
    }

    private QueuePair newPeerOfPeer() throws RdmaException {
        QueuePair own = stage.create(QueuePairType.RC, completions, completions, null);
        stage.connect(own, peer);
        stage.connect(peer, own);
        return own;
    }

    /** Posts until the queue pair is closed, or the thread is to stop. */
    private void postWhilePossible(boolean isSender) throws RdmaException {
        QueuePair to = current;
        SendWorkRequest send = new SendWorkRequest();
        ReceiveWorkRequest receive = new ReceiveWorkRequest();
        while (!isStopped && !stage.race.hasFailed()) {
            if (open.size() > StressStage.MOST_OPEN) {
                StressStage.pause();
                continue;
            }
            long id = stage.newId();
            open.add(id);
            try {
                if (isSender) {
                    to.postSend(send.clear().id(id).write(0, 0).set(SendFlag.SIGNALED)
                            .inline(MemorySegment.ofArray(new byte[16])));
                } else {
                    to.postReceive(receive.clear().id(id));
                }
                accepted.incrementAndGet();
            } catch (RdmaClosedException closed) {
                assertThat(closed).hasMessageContaining("closed");
                open.remove(id);
                return;
            } catch (RdmaException refused) {
                open.remove(id);
                if (!StressStage.isFull(refused)) {
                    throw refused;
                }
                Thread.onSpinWait();
            }
        }
    }

    private void takeAll() throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        while (completions.poll(completion)) {
            assertThat(open.remove(completion.id())).as("%s is open", completion).isTrue();
        }
    }

    void run(Race.Course end) throws Exception {
        for (boolean isSender : new boolean[]{true, false}) {
            stage.race.once(isSender ? "sender" : "receiver", () -> {
                while (true) {
                    turns.await();
                    if (isEnded) {
                        return;
                    }
                    postWhilePossible(isSender);
                    turns.await();
                }
            });
        }
        stage.race.once("end", () -> {
            while (!stage.race.isOver()) {
                isStopped = false;
                turns.await();
                long wanted = accepted.get() + StressStage.DEPTH;
                Wait.until("enough is posted",
                        () -> accepted.get() >= wanted || stage.race.hasFailed(), this::takeAll);
                end.run();
                peer.close();
                peer = stage.create(QueuePairType.RC, completions, completions, null);
                current = newPeerOfPeer();
            }
            isEnded = true;
            turns.await();
        });
        stage.race.run();
        current.close();
        peer.close();
        completions.close();
    }

    // ---------------------------------------------------------------- the ends of a queue pair

    /** It fails: whatever was posted completes, and what is posted from now on. */
    void failAndFlush() throws Exception {
        StressStage.fail(current);
        long wanted = accepted.get() + 8;
        Wait.until("some is posted after the failure",
                () -> accepted.get() >= wanted || stage.race.hasFailed(), this::takeAll);
        isStopped = true;
        turns.await();
        Wait.until("all is flushed: " + open, () -> open.isEmpty() || stage.race.hasFailed(),
                this::takeAll);
        current.close();
    }

    /** It is closed while others post. */
    void closeAtOnce() throws Exception {
        current.close();
        takeAll();
        // What had not completed when it was closed never does.
        open.clear();
        turns.await();
        open.clear();
    }
}
