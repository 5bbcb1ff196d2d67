// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.io.IOException;
import java.time.Duration;
import java.util.function.IntConsumer;

/** SEND to and fro; both sides poll, or both sleep until an event. */
public final class RdmaPingPong implements PairedWorkload {
    private static final int RECEIVES = 16;
    private static final int SIGNALED_EACH = 8;
    /** How often a side that polls looks whether the other has gone. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Creates the workload. */
    public RdmaPingPong() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, RECEIVES);
                Control control = Control.accept(ready)) {
            Player player = new Player(side, settings);
            side.connect(control);
            player.postReceives();
            control.meet();
            // The message that ends it has no length.
            while (player.awaitMessage() > 0) {
                player.send(settings.sizeBytes());
            }
            control.meet();
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, RECEIVES);
                Control control = Control.connect(port)) {
            Player player = new Player(side, settings);
            side.connect(control);
            player.postReceives();
            control.meet();
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long rounds = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(rounds, beforeNs)) {
                player.send(settings.sizeBytes());
                player.awaitMessage();
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
                rounds++;
            }
            player.send(0);
            control.meet();
            return latencies.figures(0.5).with(Quantity.ALLOCATED_BYTES, stretch.allocated(0.5));
        }
    }

    private static final class Player {
        private final RdmaSide side;
        private final QueuePair queuePair;
        private final CompletionQueue queue;
        private final SendWorkRequest send;
        private final SendWorkRequest end = new SendWorkRequest().send().set(SendFlag.SIGNALED);
        private final ReceiveWorkRequest receive;
        private final WorkCompletion completion = new WorkCompletion();
        private final boolean isPolling;
        private int sent;

        Player(RdmaSide side, Settings settings) {
            this.side = side;
            queuePair = side.queuePairs().getFirst();
            queue = side.completions();
            isPolling = settings.isPolling();
            send = new SendWorkRequest().send().add(side.region(), 0, settings.sizeBytes());
            receive = new ReceiveWorkRequest().add(side.region(), 0, settings.sizeBytes());
        }

        void postReceives() throws RdmaException {
            for (int i = 0; i < RECEIVES; i++) {
                queuePair.postReceive(receive);
            }
            if (!isPolling) {
                queue.requestNotification();
            }
        }

        void send(int length) throws RdmaException {
            // Completions of sends would wake who sleeps for messages; some are needed to free the queue.
            send.set(SendFlag.SIGNALED, (++sent & SIGNALED_EACH - 1) == 0);
            queuePair.postSend(length > 0 ? send : end);
        }

        /** {@return the length of the next message} */
        long awaitMessage() throws RdmaException {
            long polls = 0;
            long lastNs = 0;
            while (true) {
                if (queue.poll(completion)) {
                    RdmaSide.check(completion);
                    if (completion.opcode() == WorkCompletionOpcode.RECEIVE) {
                        queuePair.postReceive(receive);
                        return completion.byteLength();
                    }
                } else if (!isPolling) {
                    awaitEvent();
                } else if ((++polls & 0xffff) == 0) {
                    long nowNs = System.nanoTime();
                    lastNs = lastNs == 0 ? nowNs : lastNs;
                    if (nowNs - lastNs > PATIENCE.toNanos()) {
                        throw silent();
                    }
                }
            }
        }

        /** The queue is armed; whatever came since is seen by the poll that follows. */
        private void awaitEvent() throws RdmaException {
            CompletionQueue woken = side.channel().pollEvent(PATIENCE);
            if (woken == null) {
                throw silent();
            }
            woken.acknowledgeEvents(1);
            woken.requestNotification();
        }

        private static RdmaException silent() {
            return new RdmaException(Errno.ETIMEDOUT, "play ping-pong",
                    "the peer has sent nothing for " + PATIENCE.toSeconds() + " s");
        }
    }
}
