// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;

import java.io.IOException;
import java.util.Optional;

/** How a trial is run once. */
interface Runner {
    /** {@return why it cannot be run here, if it cannot} */
    Optional<String> obstacle();

    /**
     * Runs it once.
     *
     * @throws IOException if it fails or does not end in time; says what the processes said
     */
    Figures run() throws IOException, InterruptedException;
}
