// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import java.util.function.IntConsumer;

/** A workload of two processes, whose passive side starts first. */
public interface PairedWorkload extends Workload {
    /**
     * Plays the passive side until the active one is done.
     *
     * @param ready takes the port for {@link #drive} once the active side may connect
     */
    void serve(Settings settings, IntConsumer ready) throws Exception;
}
