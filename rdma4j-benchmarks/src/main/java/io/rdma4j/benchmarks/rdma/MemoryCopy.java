// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.benchmarks.workload.Workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@link MemorySegment#copy}, what an in-process WRITE cannot beat. */
public final class MemoryCopy implements Workload {
    /** Creates the workload. */
    public MemoryCopy() {}

    @Override
    public Figures drive(Settings settings, int port) {
        int size = settings.sizeBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(size, 4096);
            MemorySegment to = arena.allocate(size, 4096);
            Stretch stretch = new Stretch(settings);
            long done = 0;
            while (stretch.goesOn(done)) {
                MemorySegment.copy(from, 0, to, 0, size);
                done++;
            }
            return new Figures().with(Quantity.BYTES_PER_SECOND, stretch.perSecond() * size);
        }
    }
}
