// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import com.sun.management.OperatingSystemMXBean;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Workload;
import io.rdma4j.verbs.RdmaException;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/** What idle connected queue pairs cost: heap, and processor time while no thread polls. */
public final class IdlePairs implements Workload {
    private static final int DEPTH = 16;
    private static final int COLLECTIONS = 3;

    /** Creates the workload. */
    public IdlePairs() {}

    @Override
    public Figures drive(Settings settings, int port) throws RdmaException, InterruptedException {
        try (LocalPairs pairs = new LocalPairs()) {
            pairs.add(DEPTH);
            long before = heapInUse();
            int first = pairs.queuePairs().size();
            while (pairs.queuePairs().size() < settings.queuePairs()) {
                pairs.add(DEPTH);
            }
            double each = (double) (heapInUse() - before) / (pairs.queuePairs().size() - first);
            beIdle(settings.warmUpSeconds());
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory
                    .getOperatingSystemMXBean();
            long cpuNs = system.getProcessCpuTime();
            long startNs = System.nanoTime();
            beIdle(settings.seconds());
            double share = (double) (system.getProcessCpuTime() - cpuNs)
                    / (System.nanoTime() - startNs);
            return new Figures().with(Quantity.HEAP_BYTES, each).with(Quantity.CPU_SHARE, share);
        }
    }

    /** What is measured is what happens while nothing is done. */
    private static void beIdle(double seconds) throws InterruptedException {
        Thread.sleep(Duration.ofNanos((long) (seconds * 1e9)));
    }

    private static long heapInUse() {
        // What is only softly or weakly held takes more than one.
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
