// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.benchmarks.workload.Workload;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;

/** WRITEs between two queue pairs of one process, one thread. */
public final class InProcessWrite implements Workload {
    /** Creates the workload. */
    public InProcessWrite() {}

    @Override
    public Figures drive(Settings settings, int port) throws RdmaException {
        int size = settings.sizeBytes();
        try (Arena arena = Arena.ofShared();
                LocalPairs pairs = new LocalPairs();
                MemoryRegion region = pairs.domain().register(arena.allocate(2L * size, 4096),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            pairs.add(settings.depth());
            QueuePair queuePair = pairs.queuePairs().getFirst();
            SendWorkRequest request = new SendWorkRequest()
                    .write(region.address() + size, region.rkey()).add(region, 0, size)
                    .set(SendFlag.SIGNALED);
            for (int i = 0; i < settings.depth(); i++) {
                queuePair.postSend(request);
            }
            WorkCompletion completion = new WorkCompletion();
            Stretch stretch = new Stretch(settings);
            long done = 0;
            while (stretch.goesOn(done)) {
                if (pairs.completions().poll(completion)) {
                    RdmaSide.check(completion);
                    queuePair.postSend(request);
                    done++;
                }
            }
            Figures figures = new Figures()
                    .with(Quantity.BYTES_PER_SECOND, stretch.perSecond() * size)
                    .with(Quantity.ALLOCATED_BYTES, stretch.allocated(1));
            // What is still under way reads and writes the region.
            for (QueuePair each : pairs.queuePairs()) {
                each.close();
            }
            pairs.queuePairs().clear();
            return figures;
        }
    }
}
