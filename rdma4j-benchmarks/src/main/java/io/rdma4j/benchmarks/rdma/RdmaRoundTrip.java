// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.util.function.IntConsumer;

/** One WRITE or READ at a time, from its posting to its completion, while the other side's application waits. */
public final class RdmaRoundTrip implements PairedWorkload {
    private final Operation operation;

    /** Creates the workload of WRITE or READ. */
    public RdmaRoundTrip(Operation operation) {
        this.operation = operation;
    }

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, 1); Control control = Control.accept(ready)) {
            side.connect(control);
            control.awaitEnd();
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (RdmaSide side = new RdmaSide(settings, 1); Control control = Control.connect(port)) {
            side.connect(control);
            SendWorkRequest request = new SendWorkRequest()
                    .add(side.region(), 0, settings.sizeBytes()).set(SendFlag.SIGNALED);
            request = operation == Operation.READ
                    ? request.read(side.peerAddress(), side.peerKey())
                    : request.write(side.peerAddress(), side.peerKey());
            QueuePair queuePair = side.queuePairs().getFirst();
            WorkCompletion completion = new WorkCompletion();
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long count = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(count, beforeNs)) {
                queuePair.postSend(request);
                while (!side.completions().poll(completion)) {
                    Thread.onSpinWait();
                }
                RdmaSide.check(completion);
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
                count++;
            }
            return latencies.figures(1).with(Quantity.ALLOCATED_BYTES, stretch.allocated(1));
        }
    }
}
