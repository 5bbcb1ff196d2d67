// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * As much as goes through in one direction: every queue pair is kept full, and what has completed counts.
 *
 * <p>Who is written to or read from only waits, as its application would; who receives SENDs polls and posts
 * receives again.
 */
public final class RdmaStream implements PairedWorkload {
    /** Receives posted on each queue pair. */
    private static final int RECEIVES = 64;
    private static final int BATCH = 64;

    private final Operation operation;

    /** Creates the workload of one operation. */
    public RdmaStream(Operation operation) {
        this.operation = operation;
    }

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, RECEIVES);
                Control control = Control.accept(ready)) {
            if (operation != Operation.SEND) {
                side.connect(control);
                control.awaitEnd();
                return;
            }
            List<ReceiveWorkRequest> receives = new ArrayList<>();
            List<QueuePair> queuePairs = side.queuePairs();
            // The lists of a queue pair's completions are found by the number in their identifier.
            for (int i = 0; i < queuePairs.size(); i++) {
                receives.add(new ReceiveWorkRequest().id(i).add(side.region(),
                        (long) i * settings.sizeBytes(), settings.sizeBytes()));
            }
            side.connect(control);
            for (int i = 0; i < queuePairs.size(); i++) {
                for (int k = 0; k < RECEIVES; k++) {
                    queuePairs.get(i).postReceive(receives.get(i));
                }
            }
            control.meet();
            Thread receiver = Thread.currentThread();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    control.awaitEnd();
                } catch (IOException gone) {
                    // The other side has ended, one way or another.
                }
                receiver.interrupt();
            });
            receive(side, receives);
        }
    }

    private static void receive(RdmaSide side, List<ReceiveWorkRequest> receives)
            throws RdmaException {
        WorkCompletion[] completions = WorkCompletion.array(BATCH);
        while (!Thread.interrupted()) {
            int count = side.completions().poll(completions);
            for (int i = 0; i < count; i++) {
                RdmaSide.check(completions[i]);
                int index = (int) completions[i].id();
                side.queuePairs().get(index).postReceive(receives.get(index));
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, 1);
                Control control = Control.connect(port)) {
            side.connect(control);
            if (operation == Operation.SEND) {
                control.meet();
            }
            int list = Math.min(settings.list(), settings.depth());
            Stretch stretch = new Stretch(settings);
            run(side, settings, lists(side, settings, list), list, stretch);
            return new Figures()
                    .with(Quantity.BYTES_PER_SECOND, stretch.perSecond() * settings.sizeBytes())
                    .with(Quantity.MESSAGES_PER_SECOND, stretch.perSecond())
                    .with(Quantity.ALLOCATED_BYTES, stretch.allocated(1));
        }
    }

    /** {@return what each queue pair posts by one call} */
    private List<List<SendWorkRequest>> lists(RdmaSide side, Settings settings, int list) {
        List<List<SendWorkRequest>> lists = new ArrayList<>();
        for (int i = 0; i < settings.queuePairs(); i++) {
            long offset = (long) i * settings.sizeBytes();
            List<SendWorkRequest> requests = new ArrayList<>();
            for (int k = 0; k < list; k++) {
                requests.add(request(side, offset, settings.sizeBytes()).id(i)
                        .set(SendFlag.SIGNALED, k == list - 1));
            }
            lists.add(requests);
        }
        return lists;
    }

    private SendWorkRequest request(RdmaSide side, long offset, int length) {
        MemoryRegion region = side.region();
        SendWorkRequest request = new SendWorkRequest().add(region, offset, length);
        return switch (operation) {
            case WRITE -> request.write(side.peerAddress() + offset, side.peerKey());
            case READ -> request.read(side.peerAddress() + offset, side.peerKey());
            case SEND -> request.send();
        };
    }

    private static void run(RdmaSide side, Settings settings, List<List<SendWorkRequest>> lists,
            int list, Stretch stretch) throws RdmaException {
        List<QueuePair> queuePairs = side.queuePairs();
        WorkCompletion[] completions = WorkCompletion.array(BATCH);
        for (int i = 0; i < queuePairs.size(); i++) {
            for (int posted = 0; posted + list <= settings.depth(); posted += list) {
                post(queuePairs.get(i), lists.get(i));
            }
        }
        long done = 0;
        while (stretch.goesOn(done)) {
            int count = side.completions().poll(completions);
            for (int i = 0; i < count; i++) {
                RdmaSide.check(completions[i]);
                int index = (int) completions[i].id();
                post(queuePairs.get(index), lists.get(index));
            }
            done += (long) count * list;
        }
    }

    private static void post(QueuePair queuePair, List<SendWorkRequest> requests)
            throws RdmaException {
        if (requests.size() == 1) {
            queuePair.postSend(requests.getFirst());
        } else {
            queuePair.postSend(requests);
        }
    }
}
