// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.benchmarks.workload.Workload;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.lang.foreign.Arena;

/** SENDs from one queue pair of a process to another, one after the other by one thread, each until it is received. */
public final class InProcessSend implements Workload {
    private static final int SIGNALED_EACH = 8;

    /** Creates the workload. */
    public InProcessSend() {}

    @Override
    public Figures drive(Settings settings, int port) throws RdmaException {
        int size = settings.sizeBytes();
        try (Arena arena = Arena.ofShared();
                LocalPairs pairs = new LocalPairs();
                MemoryRegion region = pairs.domain().register(arena.allocate(2L * size, 4096),
                        AccessFlag.LOCAL_WRITE)) {
            pairs.add(settings.depth());
            QueuePair from = pairs.queuePairs().getFirst();
            QueuePair to = pairs.queuePairs().getLast();
            SendWorkRequest send = new SendWorkRequest().send().add(region, 0, size);
            ReceiveWorkRequest receive = new ReceiveWorkRequest().add(region, size, size);
            WorkCompletion completion = new WorkCompletion();
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long count = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(count, beforeNs)) {
                to.postReceive(receive);
                // Some have to be signaled, to free the queue.
                from.postSend(send.set(SendFlag.SIGNALED, (++count & SIGNALED_EACH - 1) == 0));
                awaitReceive(pairs, completion);
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
            }
            return latencies.figures(1).with(Quantity.ALLOCATED_BYTES, stretch.allocated(1));
        }
    }

    private static void awaitReceive(LocalPairs pairs, WorkCompletion completion)
            throws RdmaException {
        do {
            while (!pairs.completions().poll(completion)) {
                Thread.onSpinWait();
            }
            RdmaSide.check(completion);
        } while (completion.opcode() != WorkCompletionOpcode.RECEIVE);
    }
}
